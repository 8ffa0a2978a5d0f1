/* Replays a recording until something changes; most recordings change something early. A recording
 * that only stores the values that are already there has one crash state, and says nothing about
 * crashes. */
#include "crash/states/first_change.h"

#include <string.h>

#include "crash/states/image.h"

static bool is_file_change(const struct plan *p, const struct trace_event *ev)
{
	return (ev->kind == PMT_FILE && !plan_is_initial_event(p, ev)) || ev->kind == PMT_SIZE ||
	       ev->kind == PMT_FALLOCATE || ev->kind == PMT_RENAME || ev->kind == PMT_UNLINK;
}

/* Does the event change the image? The image is still the initial one, because replaying stops at
 * the first change. */
static bool is_new(const struct crash_image *im, const struct trace_event *ev)
{
	uint8_t bytes[256];

	for (uint32_t at = 0; at < ev->data_len; at += (uint32_t)sizeof bytes) {
		const uint32_t n = ev->data_len - at < sizeof bytes ? ev->data_len - at
								    : (uint32_t)sizeof bytes;

		image_read(im, ev->addr + at, bytes, n);
		if (memcmp(bytes, ev->data + at, n) != 0)
			return true;
	}
	return false;
}

bool news_in(const struct plan *p)
{
	struct trace *t = trace_cursor(p->trace);
	struct crash_image im;
	struct trace_event ev;
	bool has_news = false;

	image_init(&im, p->sizes.at, p->sizes.n);
	for (size_t i = 0; i < p->initial.n; i++)
		image_event(&im, &p->initial.at[i]);
	while (!has_news && trace_next(t, &ev))
		has_news = trace_is_store(ev.kind) ? is_new(&im, &ev) : is_file_change(p, &ev);
	image_release(&im);
	trace_close(t);
	return has_news;
}
