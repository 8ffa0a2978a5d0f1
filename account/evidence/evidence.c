/* Makes windows of the trace for bugs, and evidence from the windows. Only the first bugs in the
 * report's order get it, because they matter most. */
#include "account/evidence/evidence.h"

#include <stdlib.h>
#include <string.h>

#include "account/evidence/window.h"

#define BUGS_MAX 200u

static void window_anchor(struct window *w, uint64_t seq, uint32_t site, const char *role)
{
	if (!seq && !site)
		return;
	*vec_add(&w->anchors) = (struct anchor){ seq, site, role };
	if (seq && (!w->first_seq || seq < w->first_seq))
		w->first_seq = seq;
	if (seq > w->last_seq)
		w->last_seq = seq;
}

/* Makes a window for a bug. False: nothing says where to look, for example for a crash during
 * recovery, whose events are of another trace. */
static bool window_init(struct window *w, const struct bug *b, size_t i)
{
	const struct bug_crash *c = b->crash;

	*w = (struct window){ .bug = i, .has_memory = b->severity != BUG_PERFORMANCE };
	for (size_t k = 0; k < b->nlocations; k++)
		window_anchor(w, b->locations[k].seq, b->locations[k].site, b->locations[k].role);
	if (c && c->failure_point) {
		w->crash_seq = c->seq;
		w->state = c->state;
	}
	if (!w->first_seq && w->crash_seq)
		w->first_seq = w->last_seq = w->crash_seq;
	/* nothing is lost, so what happened before matters */
	if (w->crash_seq && w->crash_seq <= w->first_seq)
		w->first_seq = w->last_seq = w->crash_seq;
	return w->first_seq > 0;
}

static int window_compare(const void *left, const void *right)
{
	const struct window *a = left, *b = right;

	if (a->first_seq != b->first_seq)
		return a->first_seq < b->first_seq ? -1 : 1;
	return a->bug < b->bug ? -1 : a->bug > b->bug;
}

static void fill(struct report *r, const struct trace *t, const struct platform *p,
		 const struct libraries *libraries)
{
	VEC(struct window) windows = { 0 };
	struct scene scene;
	struct window w;

	for (size_t i = 0; i < report_nbugs(r) && i < BUGS_MAX; i++) {
		if (window_init(&w, report_bug(r, i), i))
			*vec_add(&windows) = w;
		else
			window_release(&w);
	}
	if (windows.n == 0)
		return;
	qsort(windows.at, windows.n, sizeof *windows.at, window_compare);
	scene_read(&scene, t, p, libraries, windows.at, windows.n);
	for (size_t i = 0; i < windows.n; i++) {
		report_set_evidence(r, windows.at[i].bug, &windows.at[i].evidence);
		window_release(&windows.at[i]);
	}
	scene_release(&scene);
	vec_release(&windows);
}

int evidence_add(struct report *r, const char *trace, const struct libraries *libraries,
		 struct error *err)
{
	const struct platform *p = report_platform(r) ? platform_find(report_platform(r)) : NULL;
	struct trace *t;

	if (!p || report_nbugs(r) == 0)
		return 0;
	if (trace_open(&t, trace, err) < 0)
		return -1;
	fill(r, t, p, libraries);
	trace_close(t);
	return 0;
}

const struct evidence *evidence_of_region(const struct trace *t, const struct platform *p,
					  uint64_t first_seq, uint64_t last_seq, struct arena *a)
{
	struct window w = {
		.first_seq = first_seq, .last_seq = last_seq, .is_region = true, .has_memory = true
	};
	const struct evidence *copy;
	struct scene scene;

	scene_read(&scene, t, p, NULL, &w, 1);
	copy = evidence_copy(a, &w.evidence);
	window_release(&w);
	scene_release(&scene);
	return copy;
}
