/* Decides whether a place is inside the work of an existing transaction: the statements that it
 * makes durable together. Transactions are recognised by the calls that begin and end them,
 * whatever macro, function, class or lambda contains these calls. The last such call before the
 * place decides. */
#include <string.h>

#include "repair/tx/internal.h"

enum { DEPTH_MAX = 2, OPEN_MAX = 32 };

/* What a call does to the transaction of its caller. */
enum effect { NOTHING, BEGINS, STOPS /* commits or aborts */, ENDS };

/* The transactions that are open at some point: the call that began each, and whether its work is
 * over. */
struct open {
	const struct source_node *begin[OPEN_MAX];
	bool is_over[OPEN_MAX];
	size_t n;
};

static enum effect effect_of_function(const struct source_unit *u, const struct source_function *f,
				      unsigned depth);

static enum effect effect_of_call(const struct source_unit *u, const struct source_node *call,
				  unsigned depth)
{
	static const struct {
		const char *name;
		enum effect effect;
	} known[] = {
		{ "pmemobj_tx_begin", BEGINS },
		{ "pmemobj_tx_commit", STOPS },
		{ "pmemobj_tx_process", STOPS },
		{ "pmemobj_tx_end", ENDS },
	};
	const struct source_function *f;

	for (size_t i = 0; call->name && i < sizeof known / sizeof *known; i++)
		if (strcmp(call->name, known[i].name) == 0)
			return known[i].effect;
	f = call->name && depth > 0 ? function_named(u, call->name) : NULL;
	return f ? effect_of_function(u, f, depth - 1) : NOTHING;
}

/* ---- objects of C++ that are a transaction while they live ---- */

static bool is_around(const struct source_node *outer, const struct source_node *n)
{
	while (n && n != outer)
		n = n->parent;
	return n != NULL;
}

static bool is_manual(const struct source_node *variable)
{
	return variable->type && (strstr(variable->type, "transaction::manual") ||
				  strstr(variable->type, "transaction::automatic"));
}

/* Returns the block in which the object lives that the call makes; NULL: it makes none. */
static const struct source_node *scope_of(const struct source_unit *u,
					  const struct source_node *call)
{
	const struct source_node *n = call->kind == SOURCE_VARIABLE ? call : call->parent;

	if (!u->is_cplusplus || !n || n->kind != SOURCE_VARIABLE)
		return NULL;
	while (n && n->kind != SOURCE_COMPOUND)
		n = n->parent;
	return n;
}

/* ---- following a function in the order of its text ---- */

static bool is_loop(const struct source_node *n)
{
	return n->kind == SOURCE_FOR || n->kind == SOURCE_WHILE || n->kind == SOURCE_DO ||
	       n->kind == SOURCE_SWITCH;
}

/* Asks whether the call is in a block that leaves the function or loop, such as an error path, so
 * that control cannot come from the call to the place. */
static bool is_on_another_way(const struct source_node *call, const struct source_node *place)
{
	for (const struct source_node *b = call->parent; b && !is_around(b, place); b = b->parent) {
		const struct source_node *last = b->kind == SOURCE_COMPOUND ? b->last : NULL,
					 *left = b;

		if (last && last->kind == SOURCE_RETURN)
			return true;
		if (!last || last->kind != SOURCE_JUMP)
			continue;
		while (left && !is_loop(left))
			left = left->parent;
		if (left && is_around(left, place))
			return true;
	}
	return false;
}

static void note(struct open *o, enum effect e, const struct source_node *call)
{
	switch (e) {
	case NOTHING: break;
	case BEGINS:
		if (o->n == OPEN_MAX)
			break;
		o->begin[o->n] = call;
		o->is_over[o->n++] = false;
		break;
	case STOPS:
		if (o->n > 0)
			o->is_over[o->n - 1] = true;
		break;
	case ENDS: o->n -= o->n > 0; break;
	}
}

/* Follows the function up to the place (NULL: to its end). Returns the last effect that was not on
 * a transaction of the function itself. */
static enum effect follow(const struct source_unit *u, const struct source_function *f,
			  const struct source_node *place, struct open *o, unsigned depth)
{
	enum effect outward = NOTHING;

	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		const struct source_node *scope = scope_of(u, n);
		enum effect e = n->kind == SOURCE_CALL ? effect_of_call(u, n, depth)
				: n->kind == SOURCE_VARIABLE && is_manual(n) ? BEGINS
									     : NOTHING;

		if (e == NOTHING || (place && n->begin >= place->begin) ||
		    node_is_in_lambda(n) != (place && node_is_in_lambda(place)))
			continue;
		if (scope && (!place || !is_around(scope, place)))
			continue; /* the object was destroyed before */
		if (e != BEGINS && place && is_on_another_way(n, place))
			continue;
		if (e != BEGINS && o->n == 0)
			outward = e;
		note(o, e, n);
	}
	return outward;
}

static enum effect effect_of_function(const struct source_unit *u, const struct source_function *f,
				      unsigned depth)
{
	struct open o = { 0 };
	enum effect outward = follow(u, f, NULL, &o, depth);

	return o.n > 0 ? BEGINS : outward;
}

/* ---- lambdas ---- */

static bool begins_inside(const struct source_unit *u, const struct source_function *f,
			  unsigned depth)
{
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		const struct source_function *callee =
			n->kind == SOURCE_CALL && n->name && depth > 0 ? function_named(u, n->name)
								       : NULL;

		if (n->kind == SOURCE_CALL && n->name && strcmp(n->name, "pmemobj_tx_begin") == 0)
			return true;
		if (callee && callee != f && begins_inside(u, callee, depth - 1))
			return true;
	}
	return false;
}

bool tx_call_begins(const struct source_unit *u, const struct source_node *call)
{
	const struct source_function *f = call->name ? function_named(u, call->name) : NULL;

	return f && begins_inside(u, f, DEPTH_MAX);
}

bool tx_runs_lambda(const struct source_unit *u, const struct file *f,
		    const struct source_node *call, const struct source_node *lambda)
{
	static const char *const names[] = { "transaction::run", "transaction::exec_tx" };
	const struct source_function *runner = call->name ? function_named(u, call->name) : NULL;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (memmem(f->text + call->begin, lambda->begin - call->begin, names[i],
			   strlen(names[i])))
			return true;
	return runner && begins_inside(u, runner, DEPTH_MAX);
}

/* Asks whether the place is in a lambda that is passed, itself or in an object, to a function that
 * runs it in a transaction. */
static bool is_run(const struct source_unit *u, const struct file *f,
		   const struct source_node *place)
{
	for (const struct source_node *n = place; n; n = n->parent)
		for (const struct source_node *c = n->kind == SOURCE_LAMBDA ? n->parent : NULL;
		     c && (c->kind == SOURCE_EXPR || c->kind == SOURCE_CALL); c = c->parent)
			if (c->kind == SOURCE_CALL && c->begin <= n->begin &&
			    tx_runs_lambda(u, f, c, n))
				return true;
	return false;
}

bool tx_is_in_work(const struct source_unit *u, const struct file *f,
		   const struct source_function *fn, const struct source_node *place)
{
	struct open o = { 0 };

	if (is_run(u, f, place))
		return true;
	follow(u, fn, place, &o, DEPTH_MAX);
	return o.n > 0 && !o.is_over[o.n - 1];
}

bool tx_is_still_open(const struct source_unit *u, const struct source_function *fn,
		      const struct source_node *from, const struct source_node *to)
{
	struct open before = { 0 }, after = { 0 };

	follow(u, fn, from, &before, DEPTH_MAX);
	follow(u, fn, to, &after, DEPTH_MAX);
	return before.n == 0 ||
	       (after.n >= before.n && after.begin[before.n - 1] == before.begin[before.n - 1] &&
		!after.is_over[before.n - 1]);
}

bool tx_is_over(const struct source_unit *u, const struct source_function *fn,
		const struct source_node *place)
{
	struct open o = { 0 };

	follow(u, fn, place, &o, DEPTH_MAX);
	return o.n > 0 && o.is_over[o.n - 1];
}
