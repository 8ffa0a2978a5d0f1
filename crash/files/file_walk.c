/* Walks a trace of followed files from one failure point to the next. The trace describes what was
 * in the folder before the recording only where the program first uses it. So the walk reads those
 * descriptions beforehand, and skips them when it comes to them. */
#include "crash/files/file_walk.h"

#include <string.h>

#define MS_SYNC_FLAG 4u

/* Does the event describe what was there before the program ran: a file, its content or its name?
 * made: the files that the program made. */
static bool is_before(const struct trace_event *ev, const followed_files *made)
{
	if (ev->kind == PMT_FILE)
		return !(ev->arg[2] & PMT_FILE_CREATED);
	if (ev->kind == PMT_CONTENT)
		return !followed_has(made, PMT_FILE(ev->addr));
	return ev->kind == PMT_NAME && ev->arg[2] == PMT_NAMED_BEFORE;
}

static void note_file(followed_files *files, const struct trace_event *ev, uint64_t flag)
{
	if (ev->kind != PMT_FILE || !(ev->arg[2] & flag) || ev->arg[0] >> (64 - PMT_OFFSET_BITS))
		return;
	while (files->n <= ev->arg[0])
		*vec_add(files) = false;
	files->at[ev->arg[0]] = true;
}

bool file_walk_is_memory(const struct file_walk *w, uint64_t file)
{
	return followed_has(&w->inside, file) && !followed_has(w->followed, file);
}

static void base_read(void *arg, uint64_t addr, uint8_t *bytes, uint32_t len_bytes)
{
	files_base_read(arg, addr, bytes, len_bytes);
}

static void base_write(void *arg, uint64_t addr, const uint8_t *bytes, uint32_t len_bytes)
{
	files_base_write(arg, addr, bytes, len_bytes);
}

void file_walk_init(struct file_walk *w, const struct plan *p, const followed_files *followed,
		    unsigned stops)
{
	struct trace *t = trace_cursor(p->trace);
	followed_files made = { 0 }, inside = { 0 };
	struct model_image base;
	struct trace_event ev;

	*w = (struct file_walk){ .plan = p,
				 .trace = trace_cursor(p->trace),
				 .followed = followed,
				 .model = files_new(true),
				 .stops = stops };
	while (trace_next(t, &ev)) {
		note_file(&made, &ev, PMT_FILE_CREATED);
		note_file(&inside, &ev, PMT_FILE_FOLLOWED);
		if (is_before(&ev, &made))
			files_step(w->model, &ev);
	}
	trace_close(t);
	w->made = made;
	w->inside = inside;
	base = (struct model_image){ base_read, base_write, w->model };
	w->memory = plan_model(p, &base);
}

void file_walk_release(struct file_walk *w)
{
	model_free(w->memory);
	files_free(w->model);
	trace_close(w->trace);
	vec_release(&w->acknowledgements);
	vec_release(&w->syncs);
	vec_release(&w->made);
	vec_release(&w->inside);
}

bool file_walk_is_change(const struct file_walk *w, const struct trace_event *ev)
{
	if (trace_is_store(ev->kind))
		return followed_has(&w->inside, PMT_FILE(ev->addr));
	return ev->kind == PMT_UNNAME || ev->kind == PMT_MOVE ||
	       (ev->kind == PMT_NAME && ev->arg[2] != PMT_NAMED_BEFORE) ||
	       ((ev->kind == PMT_SIZE || ev->kind == PMT_FALLOCATE) &&
		followed_has(w->followed, ev->arg[0]));
}

static bool is_sync(const struct file_walk *w, const struct trace_event *ev)
{
	if (ev->kind == PMT_MSYNC)
		return (ev->arg[1] & MS_SYNC_FLAG) && followed_has(w->followed, PMT_FILE(ev->addr));
	return (ev->kind == PMT_FSYNC || ev->kind == PMT_FDATASYNC) &&
	       (ev->arg[0] == 0 || followed_has(w->followed, ev->arg[0]));
}

static bool is_acknowledgement(const struct file_walk *w, const struct trace_event *ev)
{
	return plan_is_acknowledgement(w->plan, ev->kind);
}

static bool is_inside(const struct file_walk *w)
{
	return w->skip_depth <= 0 && (!w->plan->has_roi || w->roi_depth > 0);
}

/* Does the model of memory get this event? It gets all but stores to files that are not memory. */
static bool is_of_memory(const struct file_walk *w, const struct trace_event *ev)
{
	return !trace_is_store(ev->kind) || file_walk_is_memory(w, PMT_FILE(ev->addr));
}

static bool is_boundary(const struct plan *p, uint64_t seq)
{
	for (size_t i = 0; i < p->operations.n; i++)
		if (p->operations.at[i].begin_seq == seq || p->operations.at[i].end_seq == seq)
			return true;
	return false;
}

/* Is the event inside a library call that creates a pool? No crash is tried there. */
static bool is_making(const struct file_walk *w, const struct trace_event *ev)
{
	return ev->site && ev->site->id < w->plan->making.n && w->plan->making.at[ev->site->id];
}

static bool is_stop(const struct file_walk *w, const struct trace_event *ev)
{
	if ((w->stops & FILE_BOUNDARIES) && is_boundary(w->plan, ev->seq))
		return true;
	return (w->stops & FILE_POINTS) && w->is_changed && is_inside(w) && !is_making(w, ev) &&
	       (is_sync(w, ev) || is_acknowledgement(w, ev) || ev->kind == PMT_MOVE ||
		ev->kind == PMT_FAILURE_POINT ||
		(is_of_memory(w, ev) && model_reduces(w->memory, ev)));
}

static void note_depth(struct file_walk *w, enum pmt_kind kind)
{
	w->roi_depth += (kind == PMT_ROI_BEGIN) - (kind == PMT_ROI_END);
	w->skip_depth += (kind == PMT_SKIP_FAILURE_BEGIN) - (kind == PMT_SKIP_FAILURE_END);
}

static void go_past(struct file_walk *w)
{
	const struct trace_event *ev = &w->ev;
	const struct crash_store at = { ev->seq, site_id(ev->site) };

	w->has_event = false;
	note_depth(w, ev->kind);
	if (is_before(ev, &w->made))
		return;
	if (is_acknowledgement(w, ev)) {
		*vec_add(&w->acknowledgements) = (struct file_event){ at, 0 };
		w->is_changed |= w->last.seq != 0; /* it says that what was done is done */
	}
	if (is_sync(w, ev))
		*vec_add(&w->syncs) =
			(struct file_event){ at, ev->kind == PMT_MSYNC ? PMT_FILE(ev->addr)
								       : (uint32_t)ev->arg[0] };
	if (file_walk_is_change(w, ev)) {
		w->is_changed = true;
		w->last = at;
	}
	if (is_of_memory(w, ev))
		model_step(w->memory, ev);
	if (!trace_is_store(ev->kind) || !file_walk_is_memory(w, PMT_FILE(ev->addr)))
		files_step(w->model, ev);
}

bool file_walk_next(struct file_walk *w)
{
	if (w->is_over)
		return false;
	if (w->has_event)
		go_past(w);
	while (trace_next(w->trace, &w->ev)) {
		w->has_event = true;
		if (!is_stop(w, &w->ev)) {
			go_past(w);
			continue;
		}
		w->point++;
		w->seq = w->ev.seq;
		w->site = w->ev.site;
		w->is_changed = false;
		return true;
	}
	w->is_over = true;
	w->seq = w->plan->nevents + 1;
	w->site = NULL;
	if (!(w->stops & FILE_POINTS) || !w->is_changed)
		return false;
	w->point++;
	return true;
}
