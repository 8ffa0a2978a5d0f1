/* Finds how a program makes stores in the page cache durable: a helper that calls msync for the
 * pages of a range, a sync of the mapped file, or an msync of the whole object. Helpers are run
 * (run.c), so their names do not matter. Only what certainly covers the store is used. */
#include <string.h>

#include "repair/idiom/internal.h"
#include "source/source.h"
#include "repair/edit/internal.h"

enum { PAGE = 4096 };

/* ---- the mapped file ---- */

/* Returns the last name of an expression: "fd" for "fd", "db->fd" and "get()->fd". */
static const char *last_name(const struct source_node *n)
{
	n = n ? source_bare_value(n) : NULL;
	return n && (n->kind == SOURCE_NAME || n->kind == SOURCE_MEMBER) ? n->name : NULL;
}

static bool unit_maps(const struct source_unit *u, const char *descriptor)
{
	for (size_t i = 0; i < u->nfunctions; i++)
		for (const struct source_node *n = u->functions[i].body; n;
		     n = node_next(n, u->functions[i].body)) {
			const char *mapped = n->kind == SOURCE_CALL && n->name &&
							     strncmp(n->name, "mmap", 4) == 0
						     ? last_name(call_argument(n, 4))
						     : NULL;

			if (mapped && strcmp(mapped, descriptor) == 0)
				return true;
		}
	return false;
}

/* Asks whether some call of mmap maps a descriptor of this name. */
static bool is_mapped(struct repair *r, const struct source_node *descriptor)
{
	const char *name = last_name(descriptor);

	for (size_t i = 0; name && i < r->code->units.n; i++)
		if (unit_maps(r->code->units.at[i], name))
			return true;
	return false;
}

static bool syncs_file(const struct source_node *call)
{
	return call->kind == SOURCE_CALL && call->name &&
	       (strcmp(call->name, "fsync") == 0 || strcmp(call->name, "fdatasync") == 0);
}

/* Asks whether the function syncs the mapped file, and not under a condition. */
static bool function_syncs_file(struct repair *r, const struct source_function *f)
{
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		if (syncs_file(n) && node_is_sure(n, f->body) && is_mapped(r, call_argument(n, 0)))
			return true;
	return false;
}

/* ---- helpers of a range ---- */

/* Runs the function, and asks whether it syncs all lines of the range. */
static bool syncs(struct repair *r, const struct source_unit *u, const struct source_function *f,
		  int addr, int len, uint64_t offset, uint64_t bytes)
{
	struct run_value args[RUN_ARGUMENTS] = { 0 };
	struct effect e;

	args[addr] = (struct run_value){ true, RUN_BASE + offset };
	args[len] = (struct run_value){ true, bytes };
	run_function(r, u, f, (struct run_value){ 0 }, args, NULL, &e);
	for (uint64_t line = offset / 64; line <= (offset + bytes - 1) / 64; line++)
		if (!e.lines[line])
			return false;
	return e.is_followed && e.flushes;
}

/* Finds out which of the two parameters is the address and which the length; false: the function
 * does not sync a range. */
static bool range_helper(struct repair *r, const struct source_unit *u,
			 const struct source_function *f, int *addr, int *len)
{
	if (f->nparameters != 2 || f->is_variadic || f->is_method || !f->parameters[0].name ||
	    !f->parameters[1].name)
		return false;
	*addr = f->parameters[0].is_pointer ? 0 : 1;
	*len = 1 - *addr;
	if (!f->parameters[*addr].is_pointer || !f->parameters[*len].is_integer)
		return false;
	return syncs(r, u, f, *addr, *len, 104, 8) && syncs(r, u, f, *addr, *len, PAGE - 96, 200) &&
	       syncs(r, u, f, *addr, *len, PAGE, PAGE + 64) && syncs(r, u, f, *addr, *len, 0, 1);
}

static unsigned count_calls(const struct source_unit *u, const char *name)
{
	unsigned count = 0;

	for (size_t i = 0; i < u->nfunctions; i++)
		for (const struct source_node *n = u->functions[i].body; n;
		     n = node_next(n, u->functions[i].body))
			count += n->kind == SOURCE_CALL && n->name && strcmp(n->name, name) == 0;
	return count;
}

static void take(struct idiom *i, const char *call, const struct source_function *f, unsigned rank)
{
	if (!i->persist.call || rank > i->persist.rank)
		i->persist = (struct idiom_call){ .call = call,
						  .function = f,
						  .is_own = f != NULL,
						  .does = DOES_FLUSH | DOES_FENCE,
						  .rank = rank,
						  .uses = 1 };
}

/* Returns the function with its body, which another file may have. */
static const struct source_function *body_of(struct repair *r, const struct source_function *f,
					     struct source_unit **u)
{
	const char *why;

	if (f->body)
		return f;
	for (size_t i = 0; i < r->code->db->n; i++) { /* parse that file */
		const struct file *file = function_defined(r->code, u, f->name)
						  ? NULL
						  : file_open(r->code, r->code->db->files[i]);

		if (file && text_has_word(file->text, f->name))
			unit_open(r->code, r->code->db->files[i], &why);
	}
	return function_defined(r->code, u, f->name);
}

static void consider_helper(struct repair *r, const struct fix *x, struct idiom *i,
			    const struct source_function *declared)
{
	struct source_unit *u = x->unit;
	const struct source_function *f;
	unsigned ncalls = count_calls(x->unit, declared->name);
	int addr, len;

	if (declared->is_system || declared->nparameters > 2 || !function_is_visible(declared, x) ||
	    function_is_same(declared, x->function) || (declared->is_static && !ncalls))
		return;
	f = body_of(r, declared, &u);
	if (!f || !f->body)
		return;
	if (range_helper(r, u, f, &addr, &len))
		take(i,
		     text_format(r->code, addr == 0 ? "%s({addr}, {len})" : "%s({len}, {addr})",
				 f->name),
		     declared, 1000 + ncalls);
	else if (f->nparameters == 0 && !f->is_method && function_syncs_file(r, f))
		take(i, text_format(r->code, "%s()", f->name), declared, 500 + ncalls);
}

/* ---- existing calls ---- */

/* Returns the second argument of the call, which is the length; sizeof is kept as it is. */
static const struct source_node *length_of(const struct source_node *call)
{
	const struct source_node *addr = call->child ? call->child->next : NULL;

	return addr && addr->next ? source_bare_value(addr->next) : NULL;
}

/* Asks whether the call syncs the whole object to which the store belongs, from its beginning. */
static bool syncs_object(struct repair *r, const struct fix *x, const struct source_node *call)
{
	const struct source_node *addr = call_argument(call, 0), *len = length_of(call),
				 *flags = call_argument(call, 2);
	const char *base = x->range.base, *size;

	if (!addr || !len || !flags || !base || !x->range.base_bytes ||
	    strcmp(text_of(r->code, x->file, flags), "MS_SYNC") != 0)
		return false;
	if (strcmp(text_of(r->code, x->file, addr), base) != 0)
		return false;
	size = text_of(r->code, x->file, len);
	return (len->has_value && len->value >= (int64_t)x->range.base_bytes) ||
	       (strncmp(size, "sizeof", 6) == 0 && strchr(size, '*') && text_has_word(size, base));
}

/* Asks whether the call passes an object to a helper that syncs the file. */
static bool syncs_by_helper(struct repair *r, const struct fix *x, const struct source_node *call)
{
	struct source_unit *u = x->unit;
	const struct source_function *f = call->name ? function_named(x->unit, call->name) : NULL;

	if (!f && call->name && !call_is_of_library(x->unit, call))
		f = function_defined(r->code, &u, call->name);
	return f && f->body && !function_is_same(f, x->function) && f->nparameters > 0 &&
	       function_syncs_file(r, f);
}

static void consider_calls(struct repair *r, const struct fix *x, struct idiom *i,
			   const struct source_function *in)
{
	for (const struct source_node *n = in->body; n; n = node_next(n, in->body)) {
		const char *text =
			n->kind == SOURCE_CALL && n->name && !macro_use(x->unit, x->file->path, n)
				? text_of(r->code, x->file, n)
				: NULL;
		unsigned rank = 0;

		if (!text || !node_arguments_repeat(x->unit, n) || !names_are_known(n, in, x))
			continue;
		if (strcmp(n->name, "msync") == 0)
			rank = syncs_object(r, x, n) ? 300 : 0;
		else if (syncs_file(n))
			rank = is_mapped(r, call_argument(n, 0)) ? 100 : 0;
		else if (syncs_by_helper(r, x, n))
			rank = 200;
		if (rank)
			take(i, text, NULL, rank);
	}
}

void sync_find(struct repair *r, const struct fix *x, struct idiom *i)
{
	*i = (struct idiom){ 0 };
	for (size_t k = 0; k < x->unit->nfunctions; k++) {
		const struct source_function *f = &x->unit->functions[k];

		consider_helper(r, x, i, f);
		if (f->body && strcmp(f->file, x->file->path) == 0)
			consider_calls(r, x, i, f);
	}
	i->prefers_persist = i->needs_persist = i->persist.call != NULL;
}
