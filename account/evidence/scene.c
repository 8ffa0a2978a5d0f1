/* Reads a trace for all windows at once. The first pass finds the rows that each window is about.
 * In the second pass, a model of only those lines follows the events. */
#include <stdio.h>
#include <string.h>

#include "account/evidence/window.h"

static void size_note(struct scene *s, uint64_t file, uint64_t size_bytes)
{
	while (s->sizes.n <= file)
		*vec_add(&s->sizes) = 0;
	if (s->sizes.at[file] < size_bytes)
		s->sizes.at[file] = size_bytes;
}

static void sizes_see(struct scene *s, const struct trace_event *ev)
{
	uint64_t addr, len_bytes;

	if ((ev->kind == PMT_FILE || ev->kind == PMT_SIZE) && ev->arg[0] < 1u << 20)
		size_note(s, ev->arg[0], ev->arg[1]);
	else if (ev->kind == PMT_FALLOCATE && ev->arg[0] < 1u << 20)
		size_note(s, ev->arg[0], ev->arg[2] + ev->arg[3]);
	else if (trace_is_store(ev->kind) && event_range(ev, &addr, &len_bytes))
		size_note(s, PMT_FILE(addr), PMT_OFFSET(addr) + len_bytes);
}

static void line_add(struct scene *s, uint64_t addr)
{
	uint64_t key = addr / s->platform->line_bytes + 1;

	map_set(&s->lines, key, &s->lines);
}

static bool is_line(const struct scene *s, uint64_t addr)
{
	return map_get(&s->lines, addr / s->platform->line_bytes + 1) != NULL;
}

/* Adds the rows of an anchor's stores and flushes; for a region, of all its events. */
static void rows_see(struct window *w, const struct trace_event *ev)
{
	uint64_t addr, len_bytes;
	bool is_named = w->is_region && ev->seq >= w->first_seq && ev->seq <= w->last_seq;

	for (size_t i = 0; !is_named && i < w->anchors.n; i++)
		is_named = w->anchors.at[i].seq == ev->seq;
	if (!is_named || !(trace_is_store(ev->kind) || trace_is_flush(ev->kind)) ||
	    !event_range(ev, &addr, &len_bytes) || !len_bytes)
		return;
	for (uint64_t at = addr - addr % EVIDENCE_ROW_BYTES; at < addr + len_bytes;
	     at += EVIDENCE_ROW_BYTES)
		window_add_row(w, at);
}

/* Adds other rows that were stored to before the crash, such as the counter that makes an entry
 * valid. */
static void near_see(struct window *w, const struct trace_event *ev)
{
	const uint64_t row = ev->addr - ev->addr % EVIDENCE_ROW_BYTES;
	size_t i = 0;

	if (!w->crash_seq || !trace_is_store(ev->kind) || ev->seq >= w->crash_seq)
		return;
	while (i < w->nnear && w->near[i] != row)
		i++;
	if (i == WINDOW_NEAR)
		i = 0;
	else if (i == w->nnear)
		w->nnear++;
	for (; i + 1 < w->nnear; i++)
		w->near[i] = w->near[i + 1];
	w->near[w->nnear - 1] = row;
}

/* Adds the rows that the text of a state of files names: 4:n3=0,2+512=0,m5+64=0 names a sector and
 * a line of memory. */
static void rows_of_files(struct scene *s, struct window *w)
{
	unsigned long long offset;
	unsigned file;

	for (const char *at = w->state ? strchr(w->state, ':') : NULL; at; at = strchr(at + 1, ','))
		if (sscanf(at + 1 + (at[1] == 'm'), "%u+%llu=", &file, &offset) == 2) {
			line_add(s, PMT_ADDR(file, offset));
			window_add_row(w, PMT_ADDR(file, offset));
		}
}

/* Adds the lines that the crash state names; all of them are needed to reconstruct the state. */
static void rows_of_state(struct scene *s, struct window *w)
{
	unsigned long long offset;
	unsigned file;

	if (s->files) {
		rows_of_files(s, w);
		return;
	}
	for (const char *at = w->state ? strchr(w->state, ':') : NULL; at; at = strchr(at + 1, ','))
		if (sscanf(at + 1, "%u+%llx=", &file, &offset) == 2) {
			line_add(s, PMT_ADDR(file, offset));
			if (s->platform->line_bytes == EVIDENCE_ROW_BYTES)
				window_add_row(w, PMT_ADDR(file, offset));
		}
}

static uint64_t end_of(const struct window *w)
{
	return w->crash_seq > w->last_seq ? w->crash_seq : w->last_seq;
}

static bool has_begun(const struct window *w, uint64_t seq)
{
	return seq + WINDOW_BEFORE >= w->first_seq;
}

/* Learns where objects begin whose elements are stored to later. */
static void types_see(struct scene *s, const struct window *w, size_t from, size_t n,
		      const struct trace_event *ev)
{
	const bool is_wanted =
		ev->seq <= SCENE_LEARNED || (from < n && has_begun(&w[from], ev->seq));

	if (!is_wanted || !ev->site || s->nlearned >= SCENE_TYPED)
		return;
	s->nlearned++;
	types_learn(s->types, ev);
}

static void first_pass(struct scene *s, const struct trace *trace, struct window *w, size_t n)
{
	struct trace *t = trace_cursor(trace);
	struct trace_event ev;
	uint64_t end = 0;
	size_t from = 0;

	for (size_t i = 0; i < n; i++)
		end = end_of(&w[i]) > end ? end_of(&w[i]) : end;
	while (trace_next(t, &ev) && ev.seq <= end) {
		sizes_see(s, &ev);
		while (from < n && end_of(&w[from]) < ev.seq)
			from++;
		types_see(s, w, from, n, &ev);
		for (size_t i = from; i < n && w[i].first_seq <= ev.seq; i++) {
			rows_see(&w[i], &ev);
			near_see(&w[i], &ev);
		}
	}
	trace_close(t);
	for (size_t i = 0; i < n; i++) {
		rows_of_state(s, &w[i]);
		for (size_t k = 0; k < w[i].nnear; k++)
			window_add_row(&w[i], w[i].near[k]);
		for (size_t k = 0; k < w[i].nrows; k++)
			line_add(s, w[i].rows[k]);
	}
}

/* Does the model need the event? Lines are independent of each other. */
static bool is_modelled(const struct scene *s, const struct trace_event *ev)
{
	uint64_t addr, len_bytes;

	if (ev->kind == PMT_LOAD)
		return false;
	if (!(trace_is_store(ev->kind) || trace_is_flush(ev->kind)) ||
	    !event_range(ev, &addr, &len_bytes) || !len_bytes)
		return true;
	for (uint64_t at = addr - addr % EVIDENCE_ROW_BYTES; at < addr + len_bytes;
	     at += EVIDENCE_ROW_BYTES)
		if (is_line(s, at > addr ? at : addr))
			return true;
	return false;
}

/* Finishes windows whose crash comes right before this event. */
static void windows_crash(struct scene *s, struct window *w, size_t from, size_t n, uint64_t seq)
{
	for (size_t i = from; i < n; i++)
		if (!w[i].is_done && w[i].crash_seq && w[i].crash_seq <= seq)
			window_finish(&w[i], s);
}

/* Follows the types of a window's stores, one after the other. A copy consists of many stores, and
 * which part of its destination one of them fills depends on the earlier ones. */
static void type_see(struct scene *s, const struct trace_event *ev)
{
	struct typed t = { .n = 0 };

	s->is_typed = false;
	if (!trace_is_store(ev->kind) || !ev->site || s->ntyped >= SCENE_TYPED)
		return;
	s->ntyped++;
	types_of(s->types, ev, &t);
	s->is_typed = t.means != TYPE_BY_PATH && t.n > 0;
	if (s->is_typed)
		s->type = t.level[t.n - 1];
}

static void second_pass(struct scene *s, struct window *w, size_t n)
{
	struct trace_event ev;
	size_t from = 0, begun = 0;

	while (from < n && trace_next(s->trace, &ev)) {
		while (begun < n && has_begun(&w[begun], ev.seq))
			begun++;
		windows_crash(s, w, from, begun, ev.seq);
		image_event(&s->image, &ev);
		if (s->files)
			files_step(s->files, &ev);
		if (is_modelled(s, &ev))
			model_step(s->model, &ev);
		if (from < begun)
			type_see(s, &ev);
		for (size_t i = from; i < begun; i++) {
			if (w[i].is_done)
				continue;
			window_see(&w[i], s, &ev);
			if (w[i].is_done || (w[i].is_region && ev.seq >= w[i].last_seq))
				window_finish(&w[i], s);
		}
		while (from < n && w[from].is_done)
			from++;
	}
	for (size_t i = from; i < n; i++)
		if (!w[i].is_done)
			window_finish(&w[i], s);
}

void scene_read(struct scene *s, const struct trace *t, const struct platform *p,
		const struct libraries *libraries, struct window *w, size_t n)
{
	/* only debug information, because reading sources takes long */
	static const struct types_options options;
	struct model_image image;

	*s = (struct scene){ .platform = p, .followed = followed_of(t) };
	s->files = s->followed.n > 0 ? files_new(false) : NULL;
	s->symbols = symbols_new();
	s->types = types_new(&options, s->symbols);
	first_pass(s, t, w, n);
	image_init(&s->image, s->sizes.at, s->sizes.n);
	image = image_for_model(&s->image);
	s->model = model_new(p, &image);
	s->trace = trace_cursor(t);
	s->locator = locator_new(s->trace, libraries);
	second_pass(s, w, n);
}

void scene_release(struct scene *s)
{
	types_free(s->types);
	symbols_free(s->symbols);
	locator_free(s->locator);
	trace_close(s->trace);
	model_free(s->model);
	if (s->files)
		files_free(s->files);
	vec_release(&s->followed);
	image_release(&s->image);
	map_release(&s->lines);
	vec_release(&s->sizes);
	arena_release(&s->arena);
}
