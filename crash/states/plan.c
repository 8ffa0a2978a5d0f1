/* Reads a trace once and keeps what every later walk needs: sizes, mappings, operations, sites,
 * initial content. A model follows the events to find stores that are never written back. */
#include "crash/states/plan.h"
#include "crash/states/requests.h"
#include "model/cut.h"
#include "util/order.h"

#include <stdio.h>
#include <string.h>

static void note_size(struct plan *p, uint64_t file, uint64_t size_bytes)
{
	if (file == 0 || file >= (uint64_t)1 << (64 - PMT_OFFSET_BITS))
		return;
	while (p->sizes.n <= file)
		*vec_add(&p->sizes) = 0;
	if (p->sizes.at[file] < size_bytes)
		p->sizes.at[file] = size_bytes;
}

static void note_path(struct plan *p, const struct trace_event *ev)
{
	*vec_add(&p->paths) = arena_string(&p->arena, ev->data, ev->data_len);
}

static void note_mapping(struct plan *p, const struct trace_event *ev)
{
	struct run_mapping m = { .va = ev->arg[0],
				 .len_bytes = ev->arg[1],
				 .offset = PMT_OFFSET(ev->addr),
				 .file = PMT_FILE(ev->addr) };

	for (size_t i = 0; i < p->mappings.n; i++)
		if (memcmp(&p->mappings.at[i], &m, sizeof m) == 0)
			return;
	*vec_add(&p->mappings) = m;
}

static void operation_begin(struct plan *p, const struct trace_event *ev, const char *name)
{
	*vec_add(&p->operations) = (struct operation){ .begin_seq = ev->seq,
						       .end_seq = UINT64_MAX,
						       .stream = ev->stream,
						       .thread = ev->thread,
						       .name = name };
}

static void operation_end(struct plan *p, const struct trace_event *ev)
{
	for (size_t i = p->operations.n; i-- > 0;) {
		struct operation *o = &p->operations.at[i];

		if (o->stream == ev->stream && o->thread == ev->thread &&
		    o->end_seq == UINT64_MAX) {
			o->end_seq = ev->seq;
			return;
		}
	}
}

static void note_output(struct plan *p, const struct trace_event *ev)
{
	const uint8_t *end = memchr(ev->data, '\n', ev->data_len);

	*vec_add(&p->outputs) = ev->seq;
	if ((end && end + 1 < ev->data + ev->data_len) || ev->arg[1] > ev->data_len)
		p->is_output_bunched = true;
}

bool plan_is_acknowledgement(const struct plan *p, enum pmt_kind k)
{
	return k == (p->has_annotated_operations ? PMT_OP_END : PMT_OUTPUT);
}

const char *plan_why_no_operations(const struct plan *p)
{
	if (p->operations.n > 0)
		return NULL;
	if (p->is_output_bunched)
		return "the program printed several lines at once, so its output does not show where operations end; annotate them with PMEND_OP_BEGIN "
		       "and PMEND_OP_END, or flush the output after each operation";
	return "the program has no annotated operations and printed nothing; print a line after each operation, or annotate operations with PMEND_OP_BEGIN and PMEND_OP_END";
}

uint64_t plan_operation(const struct plan *p, uint64_t seq)
{
	uint64_t n = 1;

	for (size_t i = 0; i < p->operations.n; i++)
		n += p->operations.at[i].end_seq < seq;
	return n;
}

bool plan_is_initial(const struct plan *p, uint64_t file)
{
	const struct trace_file *f = trace_file(p->trace, (uint32_t)file);

	return f && !(f->flags & (PMT_FILE_CREATED | PMT_FILE_MEMORY));
}

static void add_commit(struct plan *p, const struct plan_commit *c)
{
	for (size_t i = 0; i < p->commits.n; i++) {
		const struct plan_commit *o = &p->commits.at[i];

		if (o->var == c->var && o->var_bytes == c->var_bytes && o->addr == c->addr &&
		    o->len_bytes == c->len_bytes)
			return;
	}
	*vec_add(&p->commits) = *c;
}

static void note_commit(struct plan *p, const struct trace_event *ev)
{
	if (ev->kind == PMT_COMMIT_VAR)
		add_commit(p, &(struct plan_commit){
				      .var = ev->addr, .var_bytes = ev->arg[0], .seq = ev->seq });
	else
		add_commit(p, &(struct plan_commit){ .var = ev->addr,
						     .addr = ev->arg[0],
						     .len_bytes = ev->arg[1],
						     .seq = ev->seq });
}

void plan_add_commit_sites(struct plan *p, const bool *is_commit, size_t n)
{
	struct trace *t = trace_cursor(p->trace);
	struct trace_event ev;

	while (trace_next(t, &ev))
		if (trace_is_store(ev.kind) && ev.site && ev.site->id < n && is_commit[ev.site->id])
			add_commit(p, &(struct plan_commit){ .var = ev.addr,
							     .var_bytes = ev.data_len });
	trace_close(t);
}

/* Does the event give bytes that a device had before the program ran? */
static bool is_initial_old(const struct plan *p, const struct trace_event *ev)
{
	const struct trace_file *f =
		ev->kind == PMT_OLD ? trace_file(p->trace, PMT_FILE(ev->addr)) : NULL;

	return f && (f->flags & PMT_FILE_DEVICE);
}

bool plan_is_initial_event(const struct plan *p, const struct trace_event *ev)
{
	return is_initial_old(p, ev) || (ev->kind == PMT_FILE && plan_is_initial(p, ev->arg[0])) ||
	       (ev->kind == PMT_CONTENT && plan_is_initial(p, PMT_FILE(ev->addr)));
}

static uint64_t file_of(const struct trace_event *ev)
{
	return ev->kind == PMT_FILE ? ev->arg[0] : PMT_FILE(ev->addr);
}

bool plan_is_late_event(const struct plan *p, const struct trace_event *ev)
{
	if (ev->kind != PMT_FILE && ev->kind != PMT_CONTENT)
		return false;
	for (size_t i = 0; i < p->late.n; i++)
		if (file_of(&p->late.at[i].ev) == file_of(ev))
			return true;
	return false;
}

/* Notes a file that was durable before its FILE event; META since=FILE SEQ comes right before that
 * event. */
static void note_late(struct plan *p, const struct trace_event *ev)
{
	const char *told = trace_meta(p->trace, "since");
	unsigned long long file, since;

	if (told && sscanf(told, "%llu %llu", &file, &since) == 2 && file == file_of(ev) &&
	    since < ev->seq)
		*vec_add(&p->late) = (struct plan_late){ since, *ev };
}

static int compare_since(const void *a, const void *b)
{
	const struct plan_late *x = a, *y = b;

	return x->since != y->since ? (x->since > y->since) - (x->since < y->since)
				    : (x->ev.seq > y->ev.seq) - (x->ev.seq < y->ev.seq);
}

static void note_content(struct plan *p, const struct trace_event *ev)
{
	note_late(p, ev);
	*vec_add(&p->initial) = *ev; /* a copy of the event; the trace keeps its bytes */
	if (plan_is_initial_event(p, ev))
		p->last_initial_seq = ev->seq;
}

/* Drops events of files that turned out, later in the trace, not to be initial ones. */
static void keep_initial(struct plan *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->initial.n && p->initial.at[i].seq <= p->last_initial_seq; i++)
		if (plan_is_initial_event(p, &p->initial.at[i]))
			p->initial.at[n++] = p->initial.at[i];
	p->initial.n = n;
}

static void note(struct plan *p, const struct trace_event *ev)
{
	if (ev->site) {
		while (p->sites.n <= ev->site->id)
			*vec_add(&p->sites) = NULL;
		p->sites.at[ev->site->id] = ev->site;
	}
	p->last_site = ev->site ? ev->site : p->last_site;
	p->nevents++;
	p->nold_bytes += ev->kind == PMT_OLD ? trace_old_len(ev) : 0;
	if (ev->kind == PMT_FILE || ev->kind == PMT_CONTENT || is_initial_old(p, ev))
		note_content(p, ev);
	if ((ev->kind == PMT_FILE && !(ev->arg[2] & PMT_FILE_MEMORY)) || ev->kind == PMT_RENAME)
		note_path(p, ev);
	if (ev->kind == PMT_FILE || ev->kind == PMT_SIZE)
		note_size(p, ev->arg[0], ev->arg[1]);
	else if (ev->kind == PMT_FALLOCATE && trace_file(p->trace, (uint32_t)ev->arg[0]))
		note_size(p, ev->arg[0], trace_file(p->trace, (uint32_t)ev->arg[0])->size_bytes);
	else if (ev->kind == PMT_MAP)
		note_mapping(p, ev);
	else if (ev->kind == PMT_ROI_BEGIN)
		p->has_roi = true;
	else if (ev->kind == PMT_COMMIT_VAR || ev->kind == PMT_COMMIT_RANGE)
		note_commit(p, ev);
	else if (ev->kind == PMT_OP_BEGIN)
		operation_begin(p, ev, arena_string(&p->arena, ev->data, ev->data_len));
	else if (ev->kind == PMT_OP_END)
		operation_end(p, ev);
	else if (ev->kind == PMT_OUTPUT)
		note_output(p, ev);
	p->has_input |= ev->kind == PMT_INPUT;
}

struct end_walk {
	struct plan *plan;
	const struct cut *cut;
};

/* Notes a store that was never written back. Not if its thread was cut off, because the thread
 * might still have done it. */
static void note_dirty(const struct model_store *s, void *arg)
{
	const struct end_walk *w = arg;

	if (s->state == MODEL_DIRTY && !s->is_overwritten &&
	    !cut_is(w->cut, s->stream, s->thread, s->seq))
		*vec_add(&w->plan->never_persisted) = s->seq;
}

/* Makes operations from outputs if there are no annotations: an acknowledgement ends one operation
 * and begins the next. */
static void operations_from_outputs(struct plan *p)
{
	uint64_t from = 0;

	for (size_t i = 0; i <= p->outputs.n; i++) {
		uint64_t to = i < p->outputs.n ? p->outputs.at[i] : UINT64_MAX;

		*vec_add(&p->operations) =
			(struct operation){ .begin_seq = from, .end_seq = to, .name = "" };
		from = to;
	}
}

static void number_paths(struct plan *p)
{
	*vec_add(&p->paths) = NULL;
	for (uint32_t i = 0; i < p->sizes.n; i++) {
		const struct trace_file *f = trace_file(p->trace, i);

		*vec_add(&p->numbered) = f && !(f->flags & PMT_FILE_MEMORY) ? f->path : NULL;
	}
}

struct model *plan_model(const struct plan *p, const struct model_image *image)
{
	struct model *m = model_new(p->platform, image);

	if (p->is_distrusting)
		model_distrust(m);
	return m;
}

static void keep_whole(uint64_t seq, void *arg)
{
	struct plan *p = arg;

	*vec_add(&p->declared) = seq;
}

static void keep_declared(struct plan *p, struct declared *d)
{
	declared_end(d);
	declared_each_whole(d, keep_whole, p);
	p->declared_bytes = d->bytes;
	d->bytes = (declared_list){ 0 };
	declared_release(d);
}

struct plan *plan_of_trace(struct trace *t, const struct platform *platform, bool is_distrusting)
{
	struct plan *p = xcalloc(1, sizeof *p);
	struct model *m;
	struct cut cut = { .platform = platform };
	struct declared declared = { 0 };
	struct trace_event ev;

	p->trace = t;
	p->path = trace_path(t);
	p->platform = platform;
	p->is_distrusting = is_distrusting;
	m = plan_model(p, NULL);
	while (trace_next(p->trace, &ev)) {
		note(p, &ev);
		cut_step(&cut, &ev);
		declared_step(&declared, m, &ev);
		model_step(m, &ev);
	}
	keep_declared(p, &declared);
	p->cut = cut_extent(&cut);
	number_paths(p);
	keep_initial(p);
	if (p->late.n > 0)
		qsort(p->late.at, p->late.n, sizeof *p->late.at, compare_since);
	model_each(m, 0, UINT64_MAX, note_dirty, &(struct end_walk){ p, &cut });
	cut_release(&cut);
	if (p->never_persisted.n > 0)
		qsort(p->never_persisted.at, p->never_persisted.n, sizeof(uint64_t), order_u64);
	p->is_exact = model_is_exact(m);
	p->ntrusted = model_ntrusted(m);
	model_free(m);
	p->has_annotated_operations = p->operations.n > 0;
	p->has_requests = !p->has_annotated_operations && p->has_input && requests_find(p);
	if (p->operations.n == 0 && p->outputs.n > 0 && !p->is_output_bunched)
		operations_from_outputs(p);
	return p;
}

struct plan *plan_new(const char *path, const struct platform *platform, struct error *err)
{
	struct trace *t;

	return trace_open(&t, path, err) < 0 ? NULL : plan_of_trace(t, platform, false);
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	trace_close(p->trace);
	vec_release(&p->initial);
	vec_release(&p->late);
	vec_release(&p->sizes);
	vec_release(&p->paths);
	vec_release(&p->numbered);
	vec_release(&p->mappings);
	vec_release(&p->operations);
	vec_release(&p->outputs);
	vec_release(&p->sites);
	vec_release(&p->making);
	vec_release(&p->never_persisted);
	vec_release(&p->unkept);
	vec_release(&p->declared);
	vec_release(&p->declared_bytes);
	vec_release(&p->commits);
	arena_release(&p->arena);
	free(p);
}

static bool is_listed(const uint64_t *list, size_t n, uint64_t seq)
{
	return n > 0 && bsearch(&seq, list, n, sizeof seq, order_u64) != NULL;
}

bool plan_is_never_persisted(const struct plan *p, uint64_t seq)
{
	return is_listed(p->never_persisted.at, p->never_persisted.n, seq);
}

bool plan_is_declared(const struct plan *p, uint64_t seq)
{
	return is_listed(p->declared.at, p->declared.n, seq);
}

bool plan_is_byte_declared(const struct plan *p, uint64_t seq, uint64_t addr)
{
	return declared_has(&p->declared_bytes, seq, addr, addr + 1);
}

/* ---- stores that are overwritten too early ---- */

struct replacement {
	struct plan *plan;
	const struct trace_event *by;
};

/* Does the event of another thread replace the same word as a whole? Then the first thread may be
 * about to flush the word, and its flush makes the new value durable. If nobody flushes the word,
 * the end of the trace shows that. */
static bool is_shared_word(const struct model_store *s, const struct trace_event *by)
{
	return (s->stream != by->stream || s->thread != by->thread) && s->addr == by->addr &&
	       s->size_bytes == by->data_len && s->size_bytes <= 8 &&
	       s->addr / 8 == (s->addr + s->size_bytes - 1) / 8;
}

static void note_unkept(const struct model_store *s, void *arg)
{
	const struct replacement *r = arg;

	if (!is_shared_word(s, r->by))
		*vec_add(&r->plan->unkept) = s->seq;
}

/* Notes a store that is not durable at the end. Not if its thread was cut off, because the thread
 * might still have made it durable. */
static void note_unkept_at_end(const struct model_store *s, void *arg)
{
	const struct end_walk *w = arg;

	if (!cut_is(w->cut, s->stream, s->thread, s->seq))
		*vec_add(&w->plan->unkept) = s->seq;
}

void plan_find_unkept(struct plan *p)
{
	struct model *m = plan_model(p, NULL);
	struct trace *t = trace_cursor(p->trace);
	struct cut cut = { .platform = p->platform };
	struct trace_event ev;
	size_t n = 0;

	while (trace_next(t, &ev)) {
		if (trace_is_store(ev.kind))
			model_each(m, ev.addr, ev.data_len, note_unkept,
				   &(struct replacement){ p, &ev });
		cut_step(&cut, &ev);
		model_step(m, &ev);
	}
	model_each(m, 0, UINT64_MAX, note_unkept_at_end, &(struct end_walk){ p, &cut });
	cut_release(&cut);
	model_free(m);
	trace_close(t);
	if (p->unkept.n > 0)
		qsort(p->unkept.at, p->unkept.n, sizeof(uint64_t), order_u64);
	for (size_t i = 0; i < p->unkept.n; i++)
		if (n == 0 || p->unkept.at[n - 1] != p->unkept.at[i])
			p->unkept.at[n++] = p->unkept.at[i];
	p->unkept.n = n;
}

bool plan_is_unkept(const struct plan *p, uint64_t seq)
{
	return is_listed(p->unkept.at, p->unkept.n, seq);
}

bool plan_is_pool_name(const struct plan *p, const char *path)
{
	for (size_t i = 0; i < p->numbered.n; i++)
		if (p->numbered.at[i] && strcmp(p->numbered.at[i], path) == 0)
			return true;
	for (size_t i = 0; i < p->initial.n; i++) {
		const struct trace_event *ev = &p->initial.at[i];

		if (ev->kind == PMT_FILE && ev->data_len == strlen(path) &&
		    memcmp(ev->data, path, ev->data_len) == 0)
			return true;
	}
	return false;
}

uint32_t plan_pool_file(const struct plan *p)
{
	const char *pool = trace_meta(p->trace, "scratch_pool");

	for (uint32_t i = 1; pool && i < p->numbered.n; i++)
		if (p->numbered.at[i] && strcmp(p->numbered.at[i], pool) == 0)
			return i;
	for (uint32_t i = 1; i < p->sizes.n; i++) {
		const struct trace_file *f = trace_file(p->trace, i);

		if (f && !(f->flags & PMT_FILE_MEMORY))
			return i;
	}
	return 0;
}
