/* Finds what a transaction must log: each range in it that the recorded run stored to persistent
 * memory, also in called functions. The log goes directly before the first statement that stores to
 * the range, unless the range was logged before. */
#include <string.h>

#include "repair/tx/internal.h"

/* ---- stores that ran ---- */

static bool is_logged(const struct tx *t, const struct tx_log *l)
{
	for (size_t i = 0; i < t->logs.n; i++)
		if (t->logs.at[i].x.store == l->x.store && strcmp(t->logs.at[i].addr, l->addr) == 0)
			return true;
	return false;
}

/* Asks whether the call that logs can be compiled in the log's file. A header must name libpmemobj
 * itself, since others may include the header. */
static bool knows_library(const struct tx_log *l)
{
	bool is_main = strcmp(l->x.file->path, l->x.unit->main_file) == 0;

	return tx_has_library(l->x.unit) && (is_main || strstr(l->x.file->text, "libpmemobj") ||
					     strstr(l->x.file->text, "pmemobj_"));
}

/* Moves the log out of its function to before the call, if others call the function, too, or if
 * callers usually log what it stores; the call's arguments must say what is stored. Returns the
 * frame in which the log is then. */
static size_t leave_function(struct repair *r, struct tx_log *l, const struct repair_place *p,
			     size_t at, bool is_old)
{
	struct tx_log now = *l, out;
	size_t found = 0;

	for (size_t i = 0; i <= at; i++) {
		bool is_fit = i == at ||
			      (knows_library(&now) && tx_callers(r, now.x.unit, now.x.function,
								 now.x.store) == TX_ONLY_INSIDE);

		if (!is_old && i < at && tx_allocates(now.x.function))
			break; /* the function must change anyway */
		if (is_fit) {
			*l = now;
			found = i;
		}
		if (i == at || (is_fit && !tx_is_logged_by_callers(r, &now)) ||
		    !tx_log_outward(r, &now, p, i + 1, &out))
			break;
		out.x.bug = now.x.bug;
		out.line = now.line;
		now = out;
	}
	return found;
}

/* Adds a log and returns its frame; SIZE_MAX: impossible, t->why says why. */
static size_t add_log(struct repair *r, struct tx *t, const struct fix *x,
		      const struct repair_place *p, size_t at)
{
	const struct repair_frame *f = &p->frames[0];
	struct tx_log l = { .x = *x, .line = f->line };
	const char *why = "";
	size_t frame;
	int of_macro = t->is_there ? tx_macro_log(r, x, f, &why) : 0;

	if (of_macro != 0) {
		t->why = of_macro < 0 ? why : NULL;
		return of_macro < 0 ? SIZE_MAX : at;
	}
	l.stmt = tx_statement(x->function, x->file, f->line, f->column);
	l.x.store = store_at(x->unit, x->function, x->file, f->line, f->column);
	if (!l.stmt || !l.x.store) {
		t->why = text_format(r->code, "no store, or more than one, is at %s:%u:%u", f->file,
				     f->line, f->column);
		return SIZE_MAX;
	}
	if (tx_is_conditional(x->file, l.stmt, l.x.store)) {
		t->why = text_format(r->code, "the store in line %u is part of a condition",
				     f->line);
		return SIZE_MAX;
	}
	if (tx_range(r, &l, &why) < 0) {
		t->why = why;
		return SIZE_MAX;
	}
	tx_log_split(r, &l);
	frame = at > 0 ? leave_function(r, &l, p, at, t->is_there) : 0;
	if (!knows_library(&l)) {
		t->why = text_format(
			r->code,
			"%s, where it must be logged, does not include libpmemobj's transactions",
			strrchr(l.x.file->path, '/') + 1);
		return SIZE_MAX;
	}
	if (t->is_there && tx_is_over(l.x.unit, l.x.function, l.x.store) && !tx_take_late(t, &l)) {
		t->why = text_format(
			r->code,
			"line %u stores when the transaction is over (TX_ONCOMMIT, TX_ONABORT, TX_FINALLY), and must become part of it",
			f->line);
		return SIZE_MAX;
	}
	l.is_foreign = frame < at;
	if (at == 0 && t->is_hidden) {
		enum tx_callers c = tx_callers(r, x->unit, x->function, l.x.store);

		l.guard = c == TX_ONLY_INSIDE ? NULL : tx_callers_why(c);
	}
	if (!is_logged(t, &l))
		*vec_add(&t->logs) = l;
	return frame;
}

/* Returns the innermost frame of the call path that is in the transaction; SIZE_MAX: none. */
static size_t frame_inside(struct repair *r, const struct tx *t, const struct repair_place *p)
{
	for (size_t i = 0; i < p->nframes; i++) {
		const struct repair_frame *f = &p->frames[i];
		const char *slash = f->file ? strrchr(f->file, '/') : NULL,
			   *base = strrchr(t->x.file->path, '/');
		const struct source_node *stmt;

		if (!f->file || f->line < t->first->line || f->line > t->x.function->end_line ||
		    strcmp(slash ? slash : f->file, slash ? base : base + 1) != 0)
			continue;
		stmt = tx_statement(t->x.function, t->x.file, f->line, f->column);
		if (!stmt || !tx_holds(t, stmt))
			continue;
		if (file_resolve(r->code, f->file) &&
		    strcmp(file_resolve(r->code, f->file), t->x.file->path) == 0)
			return i;
	}
	return SIZE_MAX;
}

/* ---- stores that did not run ---- */

/* Asks whether this cure's list of observed stores was not seen before. Cures that were tried on
 * one trace share the list. */
static bool is_new(const struct tx *t, size_t cure)
{
	for (size_t i = 0; i < cure; i++)
		if (t->cures.at[i]->observed == t->cures.at[cure]->observed)
			return false;
	return true;
}

static bool is_on_path(const struct repair_place *p, const struct file *in,
		       const struct source_node *store)
{
	for (size_t k = 0; k < p->nframes; k++) {
		const struct repair_frame *f = &p->frames[k];
		const char *slash = f->file ? strrchr(f->file, '/') : NULL;

		if (f->line == store->line && f->file &&
		    strcmp(slash ? slash + 1 : f->file, strrchr(in->path, '/') + 1) == 0)
			return true;
	}
	return false;
}

bool tx_is_observed(const struct tx *t, const struct file *in, const struct source_node *store)
{
	for (size_t n = 0; n < t->cures.n; n++)
		for (size_t i = 0; is_new(t, n) && i < t->cures.at[n]->nobserved; i++)
			if (is_on_path(&t->cures.at[n]->observed[i], in, store))
				return true;
	return false;
}

/* Asks whether the store is probably to persistent memory: it goes through a variable through which
 * executed stores reach persistent memory, and which is never assigned. */
static bool is_persistent_like(const struct tx *t, const struct source_function *f,
			       const struct source_node *store)
{
	const char *base = tx_base_of(store);

	for (size_t i = 0; base && i < t->logs.n; i++) {
		const char *other = t->logs.at[i].x.function == f && !t->logs.at[i].is_unseen
					    ? tx_base_of(t->logs.at[i].x.store)
					    : NULL;

		if (other && strcmp(base, other) == 0)
			return !node_assigns(f->body, NULL, base);
	}
	return false;
}

static void add_unseen(struct repair *r, struct tx *t, size_t like)
{
	const struct tx_log of = t->logs.at[like];
	const struct source_node *body = of.x.function->body;

	for (const struct source_node *n = body; n; n = node_next(n, body)) {
		struct tx_log l = { .x = of.x, .is_foreign = of.is_foreign, .is_unseen = true };
		const char *why;

		if (!node_is_store(of.x.unit, of.x.file, n) ||
		    (n->kind == SOURCE_BINARY && !n->op[0]) ||
		    (!of.is_foreign && !tx_holds(t, n)) || tx_is_observed(t, of.x.file, n) ||
		    !is_persistent_like(t, of.x.function, n))
			continue;
		l.x.store = n;
		l.stmt = tx_statement(of.x.function, of.x.file, n->line, n->column);
		if (!l.stmt || tx_is_conditional(of.x.file, l.stmt, n) ||
		    tx_range(r, &l, &why) < 0 || is_logged(t, &l))
			continue;
		tx_log_split(r, &l);
		*vec_add(&t->logs) = l;
	}
}

/* ---- stores in TX_ONCOMMIT ---- */

/* Gives up stores in TX_ONCOMMIT that cannot move into the work. */
static void settle_late(struct repair *r, struct tx *t)
{
	for (size_t i = 0; i < t->logs.n; i++) {
		const char *why = t->logs.at[i].late ? tx_late_why(r, t, &t->logs.at[i]) : NULL;

		if (!why)
			continue;
		r->failures.at[t->logs.at[i].x.bug] = why;
		r->has_new_failures = true;
	}
}

/* ---- all logs ---- */

/* Asks whether the statement contains a call that allocates or releases memory. */
static bool allocates(struct repair *r, const struct repair_place *p)
{
	const struct source_node *stmt;
	struct fix x = { 0 };
	const char *why;

	if (fix_enter_frame(r, &x, p, 0, &why) < 0)
		return false;
	stmt = tx_statement(x.function, x.file, p->frames[0].line, p->frames[0].column);
	for (const struct source_node *n = stmt; n; n = node_next(n, stmt))
		if (tx_is_allocation(n))
			return true;
	return false;
}

static int add_observed(struct repair *r, struct tx *t, const struct repair_place *p, size_t bug)
{
	bool is_store = strcmp(p->role, "store") == 0;
	size_t at = is_store || strcmp(p->role, "library") == 0 ? frame_inside(r, t, p) : SIZE_MAX,
	       frame = 0;
	struct fix x = { 0 };
	const char *why = "";

	if (at == SIZE_MAX || (!is_store && (at == 0 || !allocates(r, p))))
		return 0;
	if (is_store && fix_enter_frame(r, &x, p, 0, &why) < 0) {
		t->why = why;
		return -1;
	}
	x.bug = bug;
	if (is_store)
		frame = add_log(r, t, &x, p, at);
	if (frame == SIZE_MAX)
		return -1;
	if (frame < at)
		*vec_add(&t->paths) = (struct tx_path){ p, frame, at };
	return 0;
}

int tx_logs(struct repair *r, struct tx *t)
{
	for (size_t n = 0; n < t->cures.n; n++)
		for (size_t i = 0; is_new(t, n) && i < t->cures.at[n]->nobserved; i++) {
			if (add_observed(r, t, &t->cures.at[n]->observed[i], t->bugs.at[n]) == 0)
				continue;
			if (!t->is_there)
				return -1;
			/* the other bugs can still be fixed */
			r->failures.at[t->bugs.at[n]] = t->why;
			r->has_new_failures = true;
			t->why = NULL;
		}
	for (size_t i = t->is_there ? t->logs.n : 0, n = t->logs.n; i < n; i++)
		add_unseen(r, t, i);
	settle_late(r, t);
	tx_sort_logs(r, t);
	return 0;
}
