/* Sends or receives a plan over a wire, with everything that the trace defines. Ascending numbers
 * are sent as differences, because there may be millions of operations. */
#include <string.h>

#include "crash/states/plan.h"
#include "trace/position.h"

static const char *pass_text(struct plan *p, struct wire *w, const char *text)
{
	char *received = wire_string(w, (char *)text);

	if (!w->is_received)
		return text;
	text = arena_text(&p->arena, received);
	free(received);
	return text;
}

/* Passes ascending numbers as differences. */
#define pass_sorted(w, v) \
	do { \
		uint64_t before_ = 0; \
		for (uint64_t i_ = 0, n_ = wire_number((w), (v)->n); i_ < n_ && !(w)->is_bad; \
		     i_++) { \
			if ((w)->is_received) \
				*vec_add(v) = 0; \
			before_ = (v)->at[i_] = before_ + wire_number((w), (v)->at[i_] - before_); \
		} \
	} while (0)

static void pass_mapping(struct wire *w, struct run_mapping *m)
{
	wire_pass(w, m->va);
	wire_pass(w, m->len_bytes);
	wire_pass(w, m->offset);
	wire_pass(w, m->file);
}

static void pass_commit(struct wire *w, struct plan_commit *c)
{
	wire_pass(w, c->var);
	wire_pass(w, c->var_bytes);
	wire_pass(w, c->addr);
	wire_pass(w, c->len_bytes);
	wire_pass(w, c->seq);
}

/* Passes an operation. Its name is often that of the operation before, which costs one byte. */
static void pass_operation(struct plan *p, struct wire *w, struct operation *o,
			   const struct operation *before)
{
	const bool is_same =
		wire_number(w, !w->is_received && before && strcmp(before->name, o->name) == 0);

	w->is_bad |= is_same && !before;
	o->begin_seq = (before ? before->begin_seq : 0) +
		       wire_number(w, o->begin_seq - (before ? before->begin_seq : 0));
	o->end_seq = o->begin_seq + wire_number(w, o->end_seq - o->begin_seq);
	wire_pass(w, o->stream);
	wire_pass(w, o->thread);
	if (!is_same)
		o->name = pass_text(p, w, o->name);
	else if (before)
		o->name = before->name;
	w->is_bad |= !o->name;
}

static void pass_operations(struct plan *p, struct wire *w)
{
	for (uint64_t i = 0, n = wire_number(w, p->operations.n); i < n && !w->is_bad; i++) {
		if (w->is_received)
			*vec_add(&p->operations) = (struct operation){ 0 };
		pass_operation(p, w, &p->operations.at[i], i ? &p->operations.at[i - 1] : NULL);
	}
}

/* Passes the ids of sites that have events. */
static void pass_sites(struct plan *p, struct wire *w)
{
	for (uint64_t i = 0, n = wire_number(w, p->sites.n); i < n && !w->is_bad; i++) {
		const bool is_there = wire_number(w, !w->is_received && p->sites.at[i]);

		if (!w->is_received)
			continue;
		*vec_add(&p->sites) = is_there ? trace_site(p->trace, i) : NULL;
		w->is_bad |= is_there && !p->sites.at[i];
	}
}

/* Passes texts by number; NULL is possible. */
#define pass_texts(p, w, v) \
	do { \
		for (uint64_t i_ = 0, n_ = wire_number((w), (v)->n); i_ < n_ && !(w)->is_bad; \
		     i_++) { \
			const char *text_ = \
				pass_text((p), (w), (w)->is_received ? NULL : (v)->at[i_]); \
			if ((w)->is_received) \
				*vec_add(v) = text_; \
		} \
	} while (0)

static void pass_initial(struct plan *p, struct wire *w)
{
	for (uint64_t i = 0, n = wire_number(w, p->initial.n); i < n && !w->is_bad; i++) {
		if (w->is_received)
			*vec_add(&p->initial) = (struct trace_event){ 0 };
		trace_pass_event(p->trace, w, &p->initial.at[i]);
	}
	wire_pass(w, p->last_initial_seq);
}

static void pass_late(struct plan *p, struct wire *w)
{
	for (uint64_t i = 0, n = wire_number(w, p->late.n); i < n && !w->is_bad; i++) {
		if (w->is_received)
			*vec_add(&p->late) = (struct plan_late){ 0 };
		wire_pass(w, p->late.at[i].since);
		trace_pass_event(p->trace, w, &p->late.at[i].ev);
	}
}

static void pass_declared(struct wire *w, struct declared_bytes *b)
{
	wire_pass(w, b->seq);
	wire_pass(w, b->from);
	wire_pass(w, b->to);
}

static void pass(struct plan *p, struct wire *w)
{
	trace_pass_definitions(p->trace, w);
	trace_pass_position(p->trace, w);
	wire_pass_vec(w, &p->sizes, wire_pass_number);
	wire_pass_vec(w, &p->mappings, pass_mapping);
	pass_operations(p, w);
	pass_sites(p, w);
	pass_sorted(w, &p->never_persisted);
	pass_sorted(w, &p->declared);
	wire_pass_vec(w, &p->declared_bytes, pass_declared);
	wire_pass_vec(w, &p->commits, pass_commit);
	wire_pass(w, p->nevents);
	wire_pass(w, p->nold_bytes);
	pass_initial(p, w);
	pass_late(p, w);
	pass_texts(p, w, &p->numbered);
	pass_texts(p, w, &p->paths);
	pass_sorted(w, &p->outputs);
	wire_pass(w, p->has_roi);
	wire_pass(w, p->has_annotated_operations);
	wire_pass(w, p->has_requests);
	wire_pass(w, p->is_output_bunched);
	wire_pass(w, p->is_exact);
	wire_pass(w, p->ntrusted);
	wire_pass(w, p->cut);
}

void plan_send(struct plan *p, struct wire *w)
{
	pass(p, w);
}

struct plan *plan_receive(struct trace *t, const struct platform *platform, bool is_distrusting,
			  struct wire *w)
{
	struct plan *p = xcalloc(1, sizeof *p);

	p->trace = t;
	p->path = trace_path(t);
	p->platform = platform;
	p->is_distrusting = is_distrusting;
	pass(p, w);
	w->is_bad |= p->paths.n == 0 || p->paths.at[p->paths.n - 1] ||
		     p->numbered.n != p->sizes.n || (unsigned)p->cut > CUT_PROCESS;
	return p;
}
