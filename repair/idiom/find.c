/* Finds how a file flushes and fences. Its own functions, methods and macros come first, then
 * libpmem and libpmemobj, then intrinsics, then inline assembly. Of each kind, it takes what suits
 * the store and what the file uses most. --flush-call and --fence-call override the result. */
#include <ctype.h>
#include <string.h>

#include "repair/idiom/internal.h"
#include "source/source.h"

static void choose(struct repair *r, struct idiom_call *c, const struct pattern *p,
		   const struct fix *x, const char *call, unsigned rank)
{
	c->uses += p ? p->uses : 0;
	if (!c->call || rank > c->rank)
		*c = (struct idiom_call){ .call = call,
					  .guard = p ? guard_at(r, p, x) : NULL,
					  .is_statement = p && p->is_statement,
					  .is_own = p && p->name && !p->is_library,
					  .function = p ? p->function : NULL,
					  .does = p ? p->way.does : 0,
					  .rank = rank,
					  .uses = c->uses };
}

/* ---- whether a call suits the store ---- */

static int stars(const char *type)
{
	int n = 0;

	for (; type && *type; type++)
		n += *type == '*';
	return n;
}

/* Asks whether both types name the same structure: "const struct node *" and "struct node". */
static bool is_same_type(const char *a, const char *b)
{
	static const char *const words[] = { "const ", "volatile ", "struct ", "class ",
					     "restrict " };
	const char *text[2] = { a, b };
	size_t len[2];

	if (!a || !b)
		return false;
	for (size_t i = 0; i < 2; i++) {
		for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
			while (strncmp(text[i], words[k], strlen(words[k])) == 0) {
				text[i] += strlen(words[k]);
				k = 0;
			}
		for (const char *p = text[i]; (p = strstr(p, "::")) != NULL;)
			text[i] = p += 2;
		len[i] = 0;
		while (isalnum((unsigned char)text[i][len[i]]) || text[i][len[i]] == '_')
			len[i]++;
	}
	return len[0] && len[0] == len[1] && strncmp(text[0], text[1], len[0]) == 0;
}

static const char *call_with(struct repair *r, const char *call, const char *what, const char *by)
{
	const char *at = strstr(call, what);

	return at ? text_format(r->code, "%.*s%s%s", (int)(at - call), call, by, at + strlen(what))
		  : call;
}

static const char *class_of(struct repair *r, const char *scope)
{
	const char *last = scope;

	for (const char *p = scope; (p = strstr(p, "::")); p += 2)
		last = p[2] ? p + 2 : last;
	return text_copy(r->code, last, strlen(last) - 2);
}

/* Returns the call of a method: keep() for the object's own class, n->keep() for another object.
 * NULL: the method does not suit the store. */
static const char *method_call(struct repair *r, const struct fix *x, const struct pattern *p)
{
	const struct range *range = &x->range;
	bool is_own = x->function->is_method && x->function->scope &&
		      strcmp(x->function->scope, p->function->scope) == 0;

	if (is_own && (!range->base || strcmp(range->base, "this") == 0) && range->member)
		return text_format(r->code, "%s()", p->name);
	if (!range->base || !is_same_type(range->base_type, class_of(r, p->function->scope)) ||
	    (p->function->is_hidden && !is_own))
		return NULL;
	if (range->base[0] == '&')
		return text_format(r->code, "%s.%s()", range->base + 1, p->name);
	return text_format(r->code, "%s->%s()", text_wrapped(r->code, range->base), p->name);
}

/* Returns the cast before {addr} in the call, as it is written; "" if there is none. */
static const char *cast_in(struct repair *r, const char *call)
{
	const char *at = strstr(call, "{addr}"), *from = at;

	if (at && at > call + 1 && at[-1] == '(' && at[-2] == '>')
		for (at--; from > call && strncmp(from, "reinterpret_cast", 16) != 0;)
			from--;
	else if (at && at > call && at[-1] == ')')
		while (from > call && *from != '(')
			from--;
	return from ? text_copy(r->code, from, (size_t)(at - from)) : "";
}

/* Returns the text for the end of the range, with the cast that the call has before the beginning
 * of the range. */
static const char *end_text(struct repair *r, const char *call, const struct range *range)
{
	const char *addr = range->addr ? range->addr : "", *len = range->len ? range->len : "",
		   *cast = cast_in(r, call);
	bool is_whole = range->thing || (strncmp(len, "sizeof ", 7) == 0 && addr[0] == '&' &&
					 strcmp(len + 7, addr + 1) == 0);

	if (is_whole)
		return text_format(r->code, cast[0] ? "%s({addr} + 1)" : "%s{addr} + 1", cast);
	return text_format(r->code,
			   strpbrk(len, "?<>=&|") ? "(const char *)%s + ({len})"
						  : "(const char *)%s + {len}",
			   addr[0] == '&' ? addr : text_wrapped(r->code, addr));
}

/* Returns the call for this store, in which {addr} and {len} are still to be filled in. *is_more:
 * the call flushes more than the store. NULL: the pattern does not suit the store. */
static const char *call_for_store(struct repair *r, const struct fix *x, const struct pattern *p,
				  bool *is_more)
{
	const struct range *range = &x->range;
	const char *call = p->call;

	*is_more = false;
	switch (p->way.unit) {
	case WAY_RANGE:
	case WAY_LINE:
	case WAY_FENCE: return call;
	case WAY_LINES:
		*is_more = !range->is_one_line;
		return call_with(r, call, "{lines}", range->is_one_line ? "1" : "({len}) / 64 + 2");
	case WAY_BOUNDS: return call_with(r, call, "{end}", end_text(r, call, range));
	case WAY_OBJECT:
		if (p->way.addr == WAY_THIS) {
			*is_more = range->base_bytes > 64;
			return p->function && p->function->scope ? method_call(r, x, p) : NULL;
		}
		if (!p->function || p->way.addr < 0 ||
		    (size_t)p->way.addr >= p->function->nparameters)
			return NULL;
		if (range->thing &&
		    is_same_type(range->thing_type, p->function->parameters[p->way.addr].type) &&
		    stars(range->thing_type) + 1 ==
			    stars(p->function->parameters[p->way.addr].type))
			return call;
		*is_more = range->base_bytes > 64 && strcmp(range->base ? range->base : "",
							    range->addr ? range->addr : "") != 0;
		return range->base && is_same_type(range->base_type,
						   p->function->parameters[p->way.addr].type)
			       ? call_with(r, call, "{addr}", range->base)
			       : NULL;
	case WAY_POINTEE: return range->thing ? call : NULL;
	case WAY_THING:
		return range->thing && (!p->way.is_line || range->is_one_line)
			       ? call_with(r, call, "{addr}", range->thing)
			       : NULL;
	case WAY_MEMBER:
		if (!range->member || !range->base || range->base[0] == '&' || !range->thing ||
		    (p->way.is_line && !range->is_one_line))
			return NULL;
		return call_with(r, call_with(r, call, "{addr}", range->base), "{len}",
				 range->member);
	case WAY_NONE: break;
	}
	return NULL;
}

static bool is_in_scope(const struct source_function *f, const char *scope)
{
	return f && f->scope && strncmp(f->scope, scope, strlen(scope)) == 0;
}

/* Asks whether the function can only be called by its bare name, inside its class or namespace,
 * while the fix is outside of that. */
static bool is_inside_only(const struct fix *x, const struct pattern *p)
{
	const char *scope = p->function && !p->is_scope && !p->is_pointer &&
					    p->way.addr != WAY_THIS && p->example &&
					    p->example->child
				    ? p->function->scope
				    : NULL;

	return scope && strncmp(p->call, p->name, strlen(p->name)) == 0 &&
	       is_in_scope(p->in, scope) && !is_in_scope(x->function, scope);
}

static bool is_visible(const struct fix *x, const struct pattern *p)
{
	const struct source_macro *m = p->macro;

	if (m && strcmp(m->file, x->file->path) == 0)
		return m->begin < x->store->begin;
	if (m) /* a header does not know the macros of the file that includes it */
		return strcmp(m->file, x->unit->main_file) != 0;
	if (p->is_policy)
		return x->function->is_method && p->in->scope && x->function->scope &&
		       strcmp(p->in->scope, x->function->scope) == 0;
	if (is_inside_only(x, p))
		return false;
	if (p->function && !p->is_library)
		return !function_is_same(p->function, x->function) &&
		       (p->is_pointer || function_is_visible(p->function, x));
	return !p->function || function_is_visible(p->function, x);
}

/* ---- choosing for the file ---- */

static const char *with_pool(struct repair *r, const struct fix *x, const struct pattern *p)
{
	const char *pool = pool_name(r, x);

	if (!strstr(p->call, "{pool}"))
		return p->call;
	if (!pool && (p->way.unit == WAY_FENCE || !p->uses))
		return NULL;
	return call_with(r, p->call, "{pool}", pool ? pool : "pmemobj_pool_by_ptr({addr})");
}

static bool is_offered(const struct pattern *p)
{
	static const char *const never[] = { "pmem_msync", "pmem_deep_flush", "pmem_deep_drain",
					     "pmem_deep_persist", "_mm_mfence" };

	for (size_t i = 0; p->is_library && !p->uses && i < sizeof never / sizeof never[0]; i++)
		if (strcmp(p->name, never[i]) == 0)
			return false;
	if (p->is_library && strncmp(p->name, "__builtin", 9) == 0)
		return false;
	return !p->is_library || p->way.unit != WAY_LINE || p->uses + p->nhidden > 0;
}

/* Asks whether objects of the class have an operator*, which gives the thing of which they were
 * made. */
static bool is_handle(const struct source_unit *u, const struct pattern *p)
{
	for (size_t i = 0; i < u->nfunctions; i++)
		if (strcmp(u->functions[i].name, "operator*") == 0 && u->functions[i].scope &&
		    p->function->scope && strcmp(u->functions[i].scope, p->function->scope) == 0)
			return true;
	return false;
}

static void consider(struct repair *r, const struct fix *x, struct idiom *i,
		     const struct pattern *given, unsigned *range_uses)
{
	struct pattern p = *given;
	bool is_more, is_own = !p.is_library;
	unsigned rank = p.uses * 4 + 2 * is_own + (p.nhidden == 0);
	const char *call;

	p.call = with_pool(r, x, given);
	if (!p.call || !is_offered(&p) || !is_visible(x, &p) ||
	    (!p.is_scope && !example_is_known(&p, x)))
		return;
	call = call_for_store(r, x, &p, &is_more);
	if (!call)
		return;
	if (p.is_scope) {
		choose(r, &i->scope, &p, x, call, rank);
		if (i->scope.call == call) {
			i->scope.name = p.example->child->name;
			i->scope.is_named_after = p.is_named_after;
			i->scope.is_handle = p.is_named_after && is_handle(x->unit, &p);
		}
		return;
	}
	if (p.way.unit == WAY_FENCE) {
		/* pmem_drain() is better than an intrinsic */
		rank += p.is_library && p.name[0] != '_';
		choose(r, &i->fence, &p, x, call, rank);
		return;
	}
	if (p.way.unit == WAY_LINE && p.way.does == DOES_FLUSH) {
		choose(r, &i->line, &p, x, call, rank);
		return;
	}
	if (p.way.unit == WAY_LINE && !x->range.is_one_line)
		return;
	if (is_more) { /* it flushes more than is stored: use it only if there is nothing else */
		p.uses = 0;
		rank = 0;
	}
	if (p.way.unit == WAY_RANGE || p.way.unit == WAY_BOUNDS)
		*range_uses += p.uses;
	choose(r, p.way.does & DOES_FENCE ? &i->persist : &i->flush, &p, x, call, rank);
}

/* Returns the file's own asm statement with another address; NULL if it has other operands, too. */
static const char *asm_again(struct repair *r, const struct file *f, const struct source_node *n)
{
	const struct source_node *operand = n->child && !n->child->next ? n->child : NULL;

	if (operand && operand->kind != SOURCE_UNARY)
		operand = source_bare(operand);
	if (operand && operand->kind == SOURCE_UNARY && operand->op[0] == '*')
		operand = source_bare(operand->child);
	if (!operand || operand->kind == SOURCE_MEMBER || operand->kind == SOURCE_SUBSCRIPT ||
	    operand->begin < n->begin || operand->end > n->end || f->text[n->end - 1] != ')')
		return NULL;
	return text_format(r->code, "%.*s{addr}%.*s", (int)(operand->begin - n->begin),
			   f->text + n->begin, (int)(n->end - operand->end),
			   f->text + operand->end);
}

/* Considers inline assembly in the file's functions, as if it were an intrinsic. */
static void consider_asm(struct repair *r, const struct fix *x, struct idiom *idiom)
{
	for (size_t i = 0; i < x->unit->nfunctions; i++) {
		const struct source_function *f = &x->unit->functions[i];

		if (!f->body || strcmp(f->file, x->file->path) != 0 ||
		    idiom_is_helper(r, x->unit, f))
			continue;
		for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
			const struct pattern p = { .is_statement = true };
			const char *flush = NULL, *again;
			unsigned does;

			if (n->kind != SOURCE_ASM || !n->name ||
			    !idiom_asm_text(n->name, &does, &flush))
				continue;
			if (does == DOES_FENCE)
				choose(r, &idiom->fence, &p, x, n->name, 0);
			else if (does == DOES_FLUSH && (again = asm_again(r, x->file, n)))
				choose(r, &idiom->line, &p, x, again, 0);
			else if (does == DOES_FLUSH)
				choose(r, &idiom->line, &p, x,
				       text_format(
					       r->code,
					       "__asm__ volatile(\"%s\" : : \"r\"({addr}) : \"memory\")",
					       flush),
				       0);
		}
	}
}

static const char *override_call(struct repair *r, const char *call, bool is_flush)
{
	if (strchr(call, '('))
		return call;
	return text_format(r->code, is_flush ? "%s({addr}, {len})" : "%s()", call);
}

static void override(struct repair *r, struct idiom *i)
{
	if (r->options->flush_call) {
		i->flush =
			(struct idiom_call){ .call = override_call(r, r->options->flush_call, true),
					     .uses = 1 };
		i->line = i->persist = i->scope = (struct idiom_call){ 0 };
		i->prefers_line = i->prefers_persist = i->needs_persist = false;
	}
	if (r->options->fence_call) {
		i->fence = (struct idiom_call){ .call = override_call(r, r->options->fence_call,
								      false) };
		i->prefers_persist = i->needs_persist = false;
	}
}

void idiom_find(struct repair *r, const struct fix *x, struct idiom *i)
{
	const struct patterns *patterns =
		r->options->is_page_cache ? NULL : patterns_of(r, x->unit, x->file);
	unsigned range_uses = 0;

	if (r->options->is_page_cache) {
		sync_find(r, x, i);
		override(r, i);
		return;
	}
	*i = (struct idiom){ 0 };
	for (size_t k = 0; k < patterns->list.n; k++)
		consider(r, x, i, &patterns->list.at[k], &range_uses);
	consider_asm(r, x, i);
	i->prefers_line = i->line.uses > 0 && i->line.uses >= range_uses;
	i->prefers_persist =
		i->persist.call && (i->persist.uses > 0 || !i->flush.call ||
				    i->persist.rank >= i->flush.rank || !i->fence.call);
	/* A call of pmemobj_flush alone would be completed only by whatever the library does next.
	 * A function inside a helper may need the rest of what the helper does. */
	i->needs_persist = i->persist.call && i->flush.uses + i->line.uses == 0 &&
			   !i->flush.is_own && !i->line.is_own &&
			   ((i->persist.uses > 0 && i->persist.is_own) ||
			    (i->flush.call && strncmp(i->flush.call, "pmemobj_", 8) == 0));
	if (!r->options->flush_call && !r->options->fence_call && !i->scope.call)
		own_macros_offer(r, x, i);
	override(r, i);
}
