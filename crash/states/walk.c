/* Goes through a trace and stops at failure points, with image, model and shadow as they are there.
 * A failure point is a moment at which a crash can leave something that a crash at any later moment
 * cannot: before an operation that makes stores durable, before old bytes appear (--old-bytes),
 * before a file appears, disappears, or changes its size, and at the end of the trace or of a
 * region of interest. Moments since which nothing happened are skipped. With WALK_OVERTAKEN, there
 * is also one before an acknowledged store can be lost for the last time. docs/crash.md explains
 * why these moments are enough. */
#include "crash/states/walk.h"

#include <stdlib.h>
#include <string.h>

#include "model/wire.h"
#include "trace/position.h"

/* Loads the initial files. The trace describes them only when they are first mapped, but a crash
 * before that leaves them, too. */
static void load_initial(struct walk *w)
{
	for (size_t i = 0; i < w->plan->initial.n; i++)
		image_event(&w->image, &w->plan->initial.at[i]);
}

void walk_init(struct walk *w, const struct plan *p, unsigned stops)
{
	struct model_image image;

	*w = (struct walk){ .plan = p, .stops = stops };
	w->trace = trace_cursor(p->trace);
	image_init(&w->image, p->sizes.at, p->sizes.n);
	image = image_for_model(&w->image);
	w->model = plan_model(p, &image);
	load_initial(w);
}

void walk_add_shadow(struct walk *w)
{
	struct model_image image = image_for_model(&w->image);
	struct commits commits = { 0 };

	for (size_t i = 0; i < w->plan->commits.n; i++) {
		const struct plan_commit *c = &w->plan->commits.at[i];

		if (c->var_bytes)
			commits_add_var(&commits, c->var, c->var_bytes, c->seq, c->seq == 0);
	}
	for (size_t i = 0; i < w->plan->commits.n; i++)
		if (!w->plan->commits.at[i].var_bytes)
			commits_add_range(&commits, w->plan->commits.at[i].var,
					  w->plan->commits.at[i].addr,
					  w->plan->commits.at[i].len_bytes);
	commits_seal(&commits);
	w->shadow = shadow_new(w->model, &image, &commits);
}

void walk_suppose(struct walk *w, const struct whatif *whatif)
{
	w->rewriter = rewriter_new(whatif, w->trace);
}

static bool next_event(struct walk *w)
{
	return w->rewriter ? rewriter_next(w->rewriter, &w->ev, &w->mark)
			   : trace_next(w->trace, &w->ev);
}

void walk_release(struct walk *w)
{
	shadow_free(w->shadow);
	rewriter_free(w->rewriter);
	model_free(w->model);
	image_release(&w->image);
	trace_close(w->trace);
	vec_release(&w->skips);
}

/* ---- regions ---- */

static struct walk_skip *skip_find(const struct walk *w, const struct trace_event *ev)
{
	uint64_t thread = (uint64_t)ev->stream << 32 | ev->thread;

	for (size_t i = 0; i < w->skips.n; i++)
		if (w->skips.at[i].thread == thread)
			return &w->skips.at[i];
	return NULL;
}

static struct walk_skip *skip_get(struct walk *w, const struct trace_event *ev)
{
	struct walk_skip *s = skip_find(w, ev);

	if (s)
		return s;
	s = vec_add(&w->skips);
	*s = (struct walk_skip){ .thread = (uint64_t)ev->stream << 32 | ev->thread };
	return s;
}

static bool is_skipped(const struct walk *w, const struct trace_event *ev)
{
	const struct walk_skip *s = skip_find(w, ev);

	return (w->plan->has_roi && w->roi_depth <= 0) || (s && s->failure_depth > 0);
}

/* Is the event inside a library call that creates a pool? No crash is tried there. */
static bool is_making(const struct walk *w, const struct trace_event *ev)
{
	return ev->site && ev->site->id < w->plan->making.n && w->plan->making.at[ev->site->id];
}

static bool begins_making(const struct walk *w, const struct trace_event *ev)
{
	const struct walk_skip *s = skip_find(w, ev);

	return is_making(w, ev) && !w->is_created && !(s && s->is_making);
}

static unsigned shadow_flags(const struct walk *w, const struct trace_event *ev)
{
	const struct walk_skip *s = skip_find(w, ev);
	bool is_trusted = (w->plan->has_roi && w->roi_depth <= 0) || (s && s->check_depth > 0);

	return (is_trusted ? SHADOW_TRUSTED : 0) | (s && s->tx_depth > 0 ? SHADOW_IN_TX : 0);
}

static void note_regions(struct walk *w, const struct trace_event *ev)
{
	if (w->plan->making.n && ev->site)
		skip_get(w, ev)->is_making = is_making(w, ev);
	if (ev->kind == PMT_ROI_BEGIN)
		w->roi_depth++;
	else if (ev->kind == PMT_ROI_END)
		w->roi_depth--;
	else if (ev->kind == PMT_SKIP_FAILURE_BEGIN)
		skip_get(w, ev)->failure_depth++;
	else if (ev->kind == PMT_SKIP_FAILURE_END)
		skip_get(w, ev)->failure_depth--;
	else if (ev->kind == PMT_SKIP_CHECK_BEGIN)
		skip_get(w, ev)->check_depth++;
	else if (ev->kind == PMT_SKIP_CHECK_END)
		skip_get(w, ev)->check_depth--;
	else if (ev->kind == PMT_TX_BEGIN || ev->kind == PMT_TX_JOIN)
		skip_get(w, ev)->tx_depth++;
	else if (ev->kind == PMT_TX_END || ev->kind == PMT_TX_LEAVE)
		skip_get(w, ev)->tx_depth--;
}

/* ---- events ---- */

/* Does the presence, size or name of a file change? */
static bool is_file_change(const struct walk *w, const struct trace_event *ev)
{
	return (ev->kind == PMT_FILE && (ev->arg[2] & PMT_FILE_CREATED) &&
		!(ev->arg[2] & PMT_FILE_REPLACED) && !plan_is_late_event(w->plan, ev)) ||
	       ev->kind == PMT_SIZE || ev->kind == PMT_FALLOCATE || ev->kind == PMT_RENAME ||
	       ev->kind == PMT_UNLINK;
}

/* Did this event add something that a crash can show, or that must survive a crash? */
static bool is_change(const struct walk *w, const struct trace_event *ev)
{
	return trace_is_store(ev->kind) || is_file_change(w, ev) || ev->kind == PMT_OUTPUT ||
	       ev->kind == PMT_OP_END ||
	       (ev->kind == PMT_OLD && !plan_is_initial_event(w->plan, ev));
}

static bool is_boundary(const struct walk *w, const struct trace_event *ev)
{
	return w->plan->has_annotated_operations
		       ? ev->kind == PMT_OP_BEGIN || ev->kind == PMT_OP_END
		       : ev->kind == PMT_OUTPUT || (w->plan->has_requests && ev->kind == PMT_INPUT);
}

/* Does a region end with stores that nothing made durable in it? They are not judged later. */
static bool is_end_of_region(const struct walk *w, const struct trace_event *ev)
{
	return ev->kind == PMT_ROI_END && w->roi_depth == 1 && w->is_changed_inside;
}

static uint64_t copier_of(const struct trace_event *ev)
{
	return ev->kind == PMT_STORE_SYS ? ((uint64_t)ev->stream << 32 | ev->thread) + 1 : 0;
}

/* Is the event in the middle of a copy by the kernel? A sector contains a write(2) as a whole or
 * not at all. Points inside a read(2) are left out likewise. */
static bool is_in_copy(const struct walk *w, const struct trace_event *ev)
{
	return w->plan->platform->is_page_cache && w->copier && w->copier == copier_of(ev);
}

/* Does the event store to a line that can still lose an acknowledged store? From then on, such a
 * loss may look like the new store, or occur together with its loss. */
static bool is_overtaking(const struct walk *w, const struct trace_event *ev)
{
	return w->acknowledged_seq && trace_is_store(ev->kind) && !is_in_copy(w, ev) &&
	       model_has_older(w->model, ev->addr, ev->size_bytes, w->acknowledged_seq);
}

/* Notes META together=N: a folder is renamed, and the next N RENAME events are one step. */
static void note_together(struct walk *w, const struct trace_event *ev)
{
	static const char key[] = "together=";
	char text[sizeof key + 12] = "";

	if (ev->kind == PMT_RENAME && w->ntogether > 0)
		w->ntogether--;
	if (ev->kind != PMT_META || ev->data_len >= sizeof text || ev->data_len < sizeof key ||
	    memcmp(ev->data, key, sizeof key - 1) != 0)
		return;
	memcpy(text, ev->data, ev->data_len);
	w->ntogether = (uint32_t)strtoul(text + sizeof key - 1, NULL, 10);
	w->is_together = false;
}

/* Is the event the second half of a rename over a PM file? The trace has two events for that call:
 * the old file is removed, and the other file gets its name. No crash comes between. */
static bool is_replacing(const struct walk *w, const struct trace_event *ev)
{
	const struct trace_site *s = w->unlinked_site;

	return ev->kind == PMT_RENAME && w->unlinked_seq && ev->seq == w->unlinked_seq + 1 && s &&
	       ev->site && ev->site->node == s->node && ev->site->pc == s->pc;
}

static bool is_point(const struct walk *w, const struct trace_event *ev)
{
	if (is_replacing(w, ev) || (ev->kind == PMT_RENAME && w->is_together && w->ntogether > 0))
		return false;
	if (!w->is_changed || is_skipped(w, ev) || w->mark == WHATIF_INSIDE)
		return false;
	if (is_making(w, ev))
		return begins_making(w, ev);
	return w->mark == WHATIF_COMMIT || model_reduces(w->model, ev) || is_file_change(w, ev) ||
	       ev->kind == PMT_FAILURE_POINT || is_end_of_region(w, ev) ||
	       ((w->stops & WALK_STORES) && trace_is_store(ev->kind) && !is_in_copy(w, ev)) ||
	       ((w->stops & WALK_OVERTAKEN) && is_overtaking(w, ev));
}

/* Does the event describe a file that the program has just made? Such a file existed with no
 * content before it got its size, unless it got its name when it was complete. */
static bool is_made(const struct walk *w, const struct trace_event *ev)
{
	return ev->kind == PMT_FILE && (ev->arg[2] & PMT_FILE_CREATED) &&
	       !(ev->arg[2] & PMT_FILE_WHOLE) && !w->is_created && !plan_is_late_event(w->plan, ev);
}

/* Was the next file of plan->late durable before this event? */
static bool is_late_due(const struct walk *w)
{
	return w->nlate < w->plan->late.n && w->plan->late.at[w->nlate].since < w->ev.seq;
}

/* Did the next file of plan->late replace another file when it was not mapped yet? */
static bool is_late_replacing(const struct walk *w)
{
	const struct plan_late *late = &w->plan->late.at[w->nlate];

	return (late->ev.arg[2] & PMT_FILE_REPLACED) && w->unlinked_seq &&
	       late->since == w->unlinked_seq;
}

static void late_enter(struct walk *w)
{
	for (; is_late_due(w); w->nlate++)
		image_event(&w->image, &w->plan->late.at[w->nlate].ev);
	w->is_changed = true;
}

/* Notes that a file is about to lose the name of a pool. */
static void note_lost_pool(struct walk *w, const struct trace_event *ev)
{
	const struct crash_file *f = ev->kind == PMT_UNLINK || ev->kind == PMT_RENAME
					     ? image_file(&w->image, ev->arg[0])
					     : NULL;

	w->has_lost_pool |= f && f->exists && f->path && plan_is_pool_name(w->plan, f->path);
}

bool walk_has_pool(const struct walk *w)
{
	if (!w->plan->is_pool_named)
		return image_has_file(&w->image);
	for (size_t i = 1; i < w->image.files.n; i++) {
		const struct crash_file *f = &w->image.files.at[i];

		if (f->path && f->exists && plan_is_pool_name(w->plan, f->path))
			return true;
	}
	/* without any file, the program has cleaned up: that is as before it began */
	return w->has_lost_pool && image_has_file(&w->image);
}

static void step(struct walk *w)
{
	const struct trace_event *ev = &w->ev;

	w->has_overtaken |= w->notes_overtaken && w->is_changed && !is_skipped(w, ev) &&
			    !is_making(w, ev) && is_overtaking(w, ev);
	note_regions(w, ev);
	if (is_late_due(w))
		late_enter(w);
	note_lost_pool(w, ev);
	note_together(w, ev);
	w->is_together |= ev->kind == PMT_RENAME;
	if (!plan_is_initial_event(w->plan, ev) && !plan_is_late_event(w->plan, ev))
		image_event(&w->image, ev);
	/* the shadow needs the image before the event makes stores durable */
	if (w->shadow)
		shadow_step(w->shadow, ev, shadow_flags(w, ev));
	model_step(w->model, ev);
	if (is_change(w, ev)) {
		w->is_changed = true;
		w->is_changed_inside |= !is_skipped(w, ev);
	}
	if (ev->kind == PMT_UNLINK) {
		w->unlinked_seq = ev->seq;
		w->unlinked_site = ev->site;
	}
	if (plan_is_acknowledgement(w->plan, ev->kind))
		w->acknowledged_seq = ev->seq;
	w->nstores += trace_is_store(ev->kind);
	w->copier = copier_of(ev);
	w->has_event = w->is_created = false;
}

static void stop_at(struct walk *w, bool boundary)
{
	w->is_boundary = boundary;
	w->is_lasting = w->is_over || is_file_change(w, &w->ev) ||
			w->ev.kind == PMT_FAILURE_POINT || w->ev.kind == PMT_ROI_END;
	w->site = w->is_over ? NULL : w->ev.site;
	w->seq = w->is_over ? w->plan->nevents + 1 : w->ev.seq;
	if (!boundary) {
		w->point++;
		w->recent_seq = w->seqs[w->point % WALK_RECENT];
		w->seqs[w->point % WALK_RECENT] = w->seq;
		w->is_changed = w->is_changed_inside = false;
		w->last_acknowledged_seq = w->acknowledged_seq;
		w->acknowledged_seq = 0;
	}
}

/* Makes a file that has no size yet: it exists, empty. */
static void make_empty(struct walk *w)
{
	struct trace_event ev = w->ev;

	ev.arg[1] = 0;
	image_event(&w->image, &ev);
	w->is_created = true;
	w->is_changed = true;
}

void walk_enter(struct walk *w)
{
	while (w->plan->has_roi && w->roi_depth <= 0 && next_event(w))
		step(w);
}

bool walk_next(struct walk *w)
{
	bool was_stopped = w->has_event; /* it stopped at this event before: now it steps over it */

	if (w->is_over)
		return false;
	for (;;) {
		if (!w->has_event && !next_event(w))
			break;
		if (!w->has_event && w->seq == 0)
			/* the state before the first event is a crash state, too */
			w->is_changed = true;
		if (was_stopped && is_late_due(w)) {
			late_enter(w);
			was_stopped = false;
		} else if (was_stopped && is_made(w, &w->ev)) {
			make_empty(w);
			was_stopped = false;
		} else if (was_stopped) {
			step(w);
			was_stopped = false;
			continue;
		}
		w->has_event = true;
		if (is_late_due(w) && (w->stops & WALK_POINTS) && w->is_changed &&
		    !is_skipped(w, &w->ev) && !is_late_replacing(w)) {
			stop_at(w, false);
			w->is_lasting = true;
			return true;
		}
		if (is_late_due(w))
			late_enter(w);
		if ((w->stops & WALK_BOUNDARIES) && is_boundary(w, &w->ev)) {
			stop_at(w, true);
			return true;
		}
		if ((w->stops & WALK_POINTS) && is_point(w, &w->ev)) {
			stop_at(w, false);
			return true;
		}
		if (is_made(w, &w->ev)) {
			make_empty(w);
			was_stopped = false;
			if (!is_skipped(w, &w->ev) && !is_making(w, &w->ev) &&
			    (w->stops & WALK_POINTS)) {
				stop_at(w, false);
				return true;
			}
		}
		step(w);
	}
	w->is_over = true;
	if (!(w->stops & WALK_POINTS) || !w->is_changed || (w->plan->has_roi && w->roi_depth <= 0))
		return false;
	stop_at(w, false);
	return true;
}

/* ---- saving a walk in the middle ---- */

bool walk_go_past(struct walk *w)
{
	if (w->is_over || !w->has_event || is_made(w, &w->ev) || is_late_due(w))
		return false;
	step(w);
	return true;
}

uint64_t walk_passed_seq(const struct walk *w)
{
	return w->has_event ? w->ev.seq - 1 : w->ev.seq;
}

static void pass_skip(struct wire *m, struct walk_skip *s)
{
	wire_pass(m, s->thread);
	wire_pass(m, s->failure_depth);
	wire_pass(m, s->check_depth);
	wire_pass(m, s->tx_depth);
	wire_pass(m, s->is_making);
}

static void pass_place(struct walk *w, struct wire *m)
{
	wire_pass(m, w->point);
	wire_pass(m, w->seq);
	wire_pass(m, w->ev.seq);
	wire_pass(m, w->nstores);
	for (size_t i = 0; i < WALK_RECENT; i++)
		wire_pass(m, w->seqs[i]);
	wire_pass(m, w->is_changed);
	wire_pass(m, w->is_changed_inside);
	wire_pass(m, w->acknowledged_seq);
	wire_pass(m, w->roi_depth);
	wire_pass(m, w->copier);
	wire_pass(m, w->nlate);
	wire_pass(m, w->has_lost_pool);
	wire_pass(m, w->ntogether);
	wire_pass(m, w->is_together);
	if (m->is_received)
		w->skips.n = 0;
	wire_pass_vec(m, &w->skips, pass_skip);
}

void walk_pass(struct walk *w, struct wire *m)
{
	struct model_image image = image_for_model(&w->image);

	if (m->is_received) {
		trace_close(w->trace);
		w->trace = trace_cursor(w->plan->trace);
		model_free(w->model);
		w->model = plan_model(w->plan, &image);
		w->has_event = w->is_created = w->is_over = false;
		w->unlinked_seq = 0;
		w->site = NULL;
	}
	pass_place(w, m);
	trace_pass_position(w->trace, m);
	model_pass(w->model, m, w->trace);
}
