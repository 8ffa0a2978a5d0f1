/* `pmend show --format html` for a trace: finds the selected part, and shows it like the page of a
 * report. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/show/show.h"
#include "report/format.h"
#include "account/evidence/evidence.h"
#include "check/platform_choice.h"
#include "util/map.h"

#define AROUND_BEFORE 30u /* events shown around a source line */
#define AROUND_AFTER 60u

struct region {
	uint64_t first_seq, last_seq;
	char *text;
};

static bool is_named(const struct trace_event *ev, const char *name)
{
	return ev->data_len == strlen(name) && memcmp(ev->data, name, ev->data_len) == 0;
}

static int region_of_operation(struct region *r, const struct trace *trace, const char *name,
			       struct error *err)
{
	struct trace *t = trace_cursor(trace);
	struct trace_event ev;
	uint32_t stream = 0, thread = 0;

	while (trace_next(t, &ev)) {
		if (!r->first_seq && ev.kind == PMT_OP_BEGIN && is_named(&ev, name)) {
			r->first_seq = ev.seq;
			stream = ev.stream;
			thread = ev.thread;
		} else if (r->first_seq && ev.kind == PMT_OP_END && ev.stream == stream &&
			   ev.thread == thread && is_named(&ev, name)) {
			r->last_seq = ev.seq;
			break;
		}
	}
	trace_close(t);
	if (!r->first_seq)
		return error_set(
			err, "%s has no operation '%s'; the program names them with PMEND_OP_BEGIN",
			trace_path(trace), name);
	r->last_seq = r->last_seq ? r->last_seq : UINT64_MAX;
	r->text = xasprintf("operation %s, from event %" PRIu64, name, r->first_seq);
	return 0;
}

static bool is_at(const struct symbol *s, const char *file, size_t len, uint32_t line)
{
	size_t n = s->file ? strlen(s->file) : 0;

	return s->line == line && n >= len && memcmp(s->file + n - len, file, len) == 0 &&
	       (n == len || s->file[n - len - 1] == '/');
}

/* Is a call of the site's stack at that line? */
static bool site_is_at(struct locator *l, const struct trace_site *site, const char *file,
		       size_t len, uint32_t line)
{
	const struct frame *list;
	size_t n = locate_stack(l, site, &list);

	for (size_t i = 0; i < n; i++)
		if (is_at(list[i].symbol, file, len, line))
			return true;
	return false;
}

static int region_of_line(struct region *r, const struct trace *trace, const char *at,
			  struct error *err)
{
	const char *colon = strrchr(at, ':');
	uint32_t line = colon ? (uint32_t)strtoul(colon + 1, NULL, 10) : 0;
	struct trace *t;
	struct locator *l;
	struct trace_event ev;
	bool is_found = false;
	/* sites that are known to be elsewhere: there are many events but few sites */
	struct map seen = { 0 };

	if (!line)
		return error_set(err, "--at needs a file and a line, as in log.c:41, not '%s'", at);
	t = trace_cursor(trace);
	l = locator_new(t, NULL);
	while (!is_found && trace_next(t, &ev)) {
		if (!ev.site || map_get(&seen, ev.site->id))
			continue;
		is_found = site_is_at(l, ev.site, at, (size_t)(colon - at), line);
		map_set(&seen, ev.site->id, l);
	}
	map_release(&seen);
	locator_free(l);
	trace_close(t);
	if (!is_found)
		return error_set(err, "no event of %s comes from %s", trace_path(trace), at);
	r->first_seq = ev.seq > AROUND_BEFORE ? ev.seq - AROUND_BEFORE : 1;
	r->last_seq = ev.seq + AROUND_AFTER;
	r->text = xasprintf("around event %" PRIu64 ", the first of %s", ev.seq, at);
	return 0;
}

static int region_find(struct region *r, const struct trace *t, const struct show_page *p,
		       struct error *err)
{
	*r = (struct region){ 0 };
	if (p->operation)
		return region_of_operation(r, t, p->operation, err);
	if (p->at)
		return region_of_line(r, t, p->at, err);
	r->first_seq = p->first_seq ? p->first_seq : 1;
	r->last_seq = p->last_seq;
	r->text = r->last_seq == UINT64_MAX
			  ? xasprintf("from event %" PRIu64, r->first_seq)
			  : xasprintf("events %" PRIu64 " to %" PRIu64, r->first_seq, r->last_seq);
	return 0;
}

static char *command_of(const struct trace *t)
{
	char *text = NULL, *longer, key[32];
	const char *word;

	for (unsigned i = 0; i < 64; i++) {
		snprintf(key, sizeof key, "argv.%u", i);
		word = trace_meta(t, key);
		if (!word)
			break;
		longer = xasprintf("%s%s%s", text ? text : "", text ? " " : "", word);
		free(text);
		text = longer;
	}
	return text;
}

int show_page(FILE *out, const struct show_page *p, struct error *err)
{
	const struct platform *platform;
	const struct evidence *e;
	struct trace_event ev;
	struct arena arena = { 0 };
	struct region r;
	struct trace *t;
	char *command, *cwd = getcwd(NULL, 0);
	int status = -1;

	if (trace_open(&t, p->path, err) < 0)
		goto out;
	platform = platform_choose(t, NULL, NULL, err);
	if (!platform || region_find(&r, t, p, err) < 0)
		goto close;
	e = evidence_of_region(t, platform, r.first_seq, r.last_seq, &arena);
	while (trace_next(t, &ev) && (ev.kind == PMT_PROCESS || ev.kind == PMT_META))
		;
	command = command_of(t);
	trace_page_html(out, e,
			&(struct trace_page){ .trace = p->path,
					      .region = r.text,
					      .platform = platform->name,
					      .command = command,
					      .folder = trace_meta(t, "cwd"),
					      .cwd = cwd });
	free(command);
	free(r.text);
	arena_release(&arena);
	status = 0;
close:
	trace_close(t);
out:
	free(cwd);
	return status;
}
