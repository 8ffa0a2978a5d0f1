/* Collects how a file calls functions that flush and fence. Arguments that do not say what is
 * flushed (a pool, a flag) stay as the file writes them. First come the calls that the file has,
 * then functions and macros that it could call but does not. */
#include <string.h>

#include "repair/idiom/internal.h"
#include "source/source.h"

struct collecting {
	struct repair *r;
	const struct source_unit *u;
	const struct file *file;
	struct patterns *to;
};

/* ---- one call ---- */

/* Returns the cast at the beginning of an argument: "(const char *)" for "(const char *)&x"; "" if
 * there is none. */
static const char *cast_of(struct collecting *c, const char *argument)
{
	const char *close = argument[0] == '(' ? strchr(argument, ')') : NULL, *open;

	if (close && close[-1] == '*' && close[1])
		return text_copy(c->r->code, argument, (size_t)(close - argument) + 1);
	if (close && strstr(argument, "ptr_t)") && strstr(argument, "ptr_t)") < close + 1)
		return text_copy(c->r->code, argument, (size_t)(close - argument) + 1);
	open = strncmp(argument, "reinterpret_cast<", 17) == 0 ? strstr(argument, ">(") : NULL;
	return open ? text_copy(c->r->code, argument, (size_t)(open - argument) + 1) : "";
}

/* Returns the cast for an address that is passed to this parameter. Only void * takes any address
 * without a cast. */
static const char *cast_for(struct collecting *c, const struct source_parameter *p,
			    const char *argument)
{
	const char *written = argument ? cast_of(c, argument) : "";

	if (!p->type || strstr(p->type, "void"))
		return "";
	if (written[0])
		return written;
	if (c->u->is_cplusplus)
		return text_format(c->r->code, "reinterpret_cast<%s>", p->type);
	return text_format(c->r->code, "(%s)", p->type);
}

static const char *placeholder(struct collecting *c, const struct way *w,
			       const struct source_function *f, int i, const char *argument)
{
	const struct source_parameter *p =
		f && (size_t)i < f->nparameters ? &f->parameters[i] : NULL;
	const char *cast;

	if (i == w->addr &&
	    (w->unit == WAY_OBJECT || w->unit == WAY_THING || w->unit == WAY_POINTEE))
		return "{addr}";
	if (i == w->addr) {
		cast = p ? cast_for(c, p, argument) : "";
		return text_format(c->r->code, strstr(cast, "_cast<") ? "%s({addr})" : "%s{addr}",
				   cast);
	}
	if (i == w->len)
		return w->unit == WAY_LINES ? "{lines}" : w->unit == WAY_BOUNDS ? "{end}" : "{len}";
	return p && type_is_pool(p->type) ? "{pool}" : argument;
}

/* Returns the call's text with placeholders; NULL if an argument is unknown. */
static const char *call_text(struct collecting *c, const char *callee, const struct way *w,
			     const struct source_function *f, const char *const *args, size_t n)
{
	const char *text = text_format(c->r->code, "%s(", callee);

	for (size_t i = 0; i < n; i++) {
		const char *arg = placeholder(c, w, f, (int)i, args ? args[i] : NULL);

		if (!arg)
			return NULL;
		text = text_format(c->r->code, "%s%s%s", text, i ? ", " : "", arg);
	}
	return text_format(c->r->code, "%s)", text);
}

static struct run_value value_of(const struct file *file, const struct source_node *n)
{
	const char *text = file->text + n->begin;
	size_t len = n->end - n->begin;

	if (n->has_value)
		return (struct run_value){ true, (uint64_t)n->value };
	if (len == 4 && strncmp(text, "true", 4) == 0)
		return (struct run_value){ true, 1 };
	if (len == 5 && strncmp(text, "false", 5) == 0)
		return (struct run_value){ true, 0 };
	return (struct run_value){ 0 };
}

/* Finds the way of a function in this call: what it does if it gets the other arguments of the
 * call. */
static struct way way_here(struct collecting *c, const struct source_unit *in,
			   const struct source_function *f, const struct source_node *call)
{
	struct run_value given[RUN_ARGUMENTS] = { 0 };
	struct way w = *way_of_function(c->r, in, f);
	size_t i = 0;

	if (!f->body || f->nparameters <= 1 ||
	    (w.unit != WAY_NONE && f->nparameters == 2 && w.addr >= 0 && w.len >= 0))
		return w;
	for (const struct source_node *a = call->child ? call->child->next : NULL;
	     a && i < RUN_ARGUMENTS; a = a->next, i++)
		if ((int)i != w.addr && (int)i != w.len)
			given[i] = value_of(c->file, a);
	way_with(c->r, in, f, given, &w);
	return w;
}

/* ---- the calls of the file ---- */

static void add_use(struct collecting *c, const struct pattern *p, bool is_hidden)
{
	for (size_t i = 0; i < c->to->list.n; i++) {
		struct pattern *there = &c->to->list.at[i];

		if (strcmp(there->call, p->call) != 0)
			continue;
		if (is_hidden) {
			there->nhidden++;
			return;
		}
		there->guard = there->uses ? guard_common(c->r, there->guard, p->guard) : p->guard;
		there->uses++;
		there->is_named_after &= p->is_named_after;
		if (there->uses == 1) {
			there->example = p->example;
			there->in = p->in;
		}
		return;
	}
	*vec_add(&c->to->list) = *p;
	c->to->list.at[c->to->list.n - 1].uses = !is_hidden;
	c->to->list.at[c->to->list.n - 1].nhidden = is_hidden;
}

static struct way way_of_library(const char *name)
{
	unsigned does = idiom_known(name);
	bool is_pool = strncmp(name, "pmemobj_", 8) == 0, is_range = strncmp(name, "pmem", 4) == 0;

	if (does == DOES_FENCE)
		return (struct way){ .unit = WAY_FENCE,
				     .does = does,
				     .addr = WAY_NO_ARGUMENT,
				     .len = WAY_NO_ARGUMENT };
	return (struct way){ .unit = is_range ? WAY_RANGE : WAY_LINE,
			     .does = does,
			     .addr = is_pool,
			     .len = is_range ? 1 + is_pool : WAY_NO_ARGUMENT };
}

static const char *library_call(struct collecting *c, const char *name, const struct way *w)
{
	const char *pool = strncmp(name, "pmemobj_", 8) == 0 ? "{pool}" : "";

	if (w->unit == WAY_FENCE)
		return text_format(c->r->code, "%s(%s)", name, pool);
	return text_format(c->r->code, "%s(%s%s{addr}%s)", name, pool, pool[0] ? ", " : "",
			   w->unit == WAY_RANGE ? ", {len}" : "");
}

/* Asks whether the call is of a method of libpmemobj-cpp's pool: pop.persist(p, n). */
static bool is_pool_method(const struct source_node *callee)
{
	const char *type =
		callee->kind == SOURCE_MEMBER && callee->child ? callee->child->type : NULL;

	return type && strstr(type, "pool") && callee->name &&
	       (strcmp(callee->name, "persist") == 0 || strcmp(callee->name, "flush") == 0 ||
		strcmp(callee->name, "drain") == 0);
}

static size_t count(const char *const *args)
{
	size_t n = 0;

	while (args && args[n] && args[n][0])
		n++;
	return n;
}

/* Asks whether the first n arguments include those that say what is flushed. */
static bool is_told(const struct way *w, size_t n)
{
	return w->unit == WAY_FENCE || (w->addr < (int)n && w->len < (int)n);
}

/* Finds out what a call does and which function it calls: p's way and function. */
static void find_way(struct collecting *c, const struct source_node *call, const char *const *args,
		     struct pattern *p)
{
	const struct source_node *callee = source_bare(call->child);
	const struct source_unit *u = c->u;

	p->is_library = idiom_known(call->name) != 0;
	if (p->is_library) {
		p->way = way_of_library(call->name);
		return;
	}
	p->function = run_callee(c->r, &u, call);
	if (!p->function) {
		p->function = way_behind_pointer(c->r, &u, call);
		p->is_pointer = p->function != NULL;
	}
	if (p->function)
		p->way = way_here(c, u, p->function, call);
	else if (is_pool_method(callee) && count(args) == 2)
		p->way = (struct way){ .unit = WAY_RANGE,
				       .does = strcmp(callee->name, "flush") == 0
						       ? DOES_FLUSH
						       : DOES_FLUSH | DOES_FENCE,
				       .addr = 0,
				       .len = 1 };
	else if (is_pool_method(callee) && strcmp(callee->name, "drain") == 0)
		p->way = (struct way){ .unit = WAY_FENCE,
				       .does = DOES_FENCE,
				       .addr = WAY_NO_ARGUMENT,
				       .len = WAY_NO_ARGUMENT };
}

struct way way_of_call(struct repair *r, const struct source_unit *u, const struct file *file,
		       const struct source_node *call, const char *const *args)
{
	struct collecting c = { .r = r, .u = u, .file = file };
	struct pattern p = { .name = call->name };

	if (call->name && call->child)
		find_way(&c, call, args, &p);
	return p.way;
}

/* Finds the way of a call in a template of a class that is its parameter, such as
 * `Medium::persist(x)`: that of the static methods of this name in all classes of the file. False:
 * they do not all do the same. */
static bool find_policy(struct collecting *c, const struct source_node *call, const char *callee,
			size_t nargs, struct pattern *p)
{
	const char *colons = strstr(callee, "::"), *name = colons ? colons + 2 : "";

	if (!c->u->is_cplusplus || !text_is_identifier(name) ||
	    !text_is_identifier(text_copy(c->r->code, callee, (size_t)(colons - callee))))
		return false;
	for (size_t i = 0; i < c->u->nfunctions; i++) {
		const struct source_function *f = &c->u->functions[i];
		struct way w;

		if (!f->body || !f->scope || f->is_system || f->nparameters != nargs ||
		    strcmp(f->name, name) != 0)
			continue;
		w = way_here(c, c->u, f, call);
		if (p->function && (w.unit != p->way.unit || w.does != p->way.does ||
				    w.addr != p->way.addr || w.len != p->way.len))
			return false;
		p->function = f;
		p->way = w;
	}
	p->name = name;
	return p->function != NULL;
}

static void add_policy_call(struct collecting *c, const struct source_function *in,
			    const struct source_node *call)
{
	struct pattern p = { .example = call, .in = in, .is_policy = true };
	uint32_t open = call->begin;
	const char **args;
	const char *callee;

	while (open < call->end && c->file->text[open] != '(')
		open++;
	callee = text_copy(c->r->code, c->file->text + call->begin, open - call->begin);
	args = text_arguments(c->r->code, c->file, call->begin, call->end);
	if (!args || !find_policy(c, call, callee, count(args), &p) || p.way.unit == WAY_NONE ||
	    !is_told(&p.way, count(args)))
		return;
	p.call = call_text(c, callee, &p.way, p.function, args, count(args));
	p.guard = guard_of(c->r, c->file, in, call);
	if (p.call)
		add_use(c, &p, false);
}

/* Returns, for persist(slice_of(x)), the call's text with the macro that makes the structure; NULL:
 * it is no such call. */
static const char *slice_call(struct collecting *c, struct pattern *p, const char *argument)
{
	size_t len = strcspn(argument, "(");

	if (!argument[len] || !way_of_slice(c->r, c->u, p->function, &p->way))
		return NULL;
	for (size_t i = c->u->nmacros; i-- > 0;)
		if (strlen(c->u->macros[i].name) == len &&
		    strncmp(c->u->macros[i].name, argument, len) == 0)
			return way_slice_call(c->r, p->function, p->name, &c->u->macros[i],
					      &p->way);
	return NULL;
}

static void add_call(struct collecting *c, const struct source_function *in,
		     const struct source_node *call, bool is_hidden)
{
	const struct source_node *callee = source_bare(call->child);
	struct pattern p = { .name = call->name, .example = call, .in = in };
	const char **args;
	bool is_made;

	if (!call->name || !call->name[0])
		add_policy_call(c, in, call);
	if (!call->name || !callee)
		return;
	is_made = macro_use(c->u, c->file->path, call) != NULL;
	is_hidden |= is_made;
	args = is_made ? NULL
		       : text_arguments(c->r->code, c->file,
					callee->text_end < call->text_end ? callee->text_end
									  : call->text_begin,
					call->text_end);
	find_way(c, call, args, &p);
	if (p.is_library) {
		p.call = library_call(c, call->name, &p.way);
	} else if (!(p.call = count(args) == 1 && p.way.unit == WAY_NONE && p.function
				      ? slice_call(c, &p, args[0])
				      : NULL)) {
		if (p.way.unit == WAY_NONE || (is_hidden && !p.function) ||
		    (!is_made && !is_told(&p.way, count(args))))
			return;
		p.call = call_text(
			c,
			p.way.addr == WAY_THIS || is_made ? call->name
							  : text_of(c->r->code, c->file, callee),
			&p.way, p.function, args, is_made ? p.function->nparameters : count(args));
	}
	p.guard = is_hidden ? NULL : guard_of(c->r, c->file, in, call);
	if (p.call)
		add_use(c, &p, is_hidden);
}

static void add_scope(struct collecting *c, const struct source_function *in,
		      const struct source_node *stmt)
{
	struct scope_text t;
	struct pattern p = { .example = stmt,
			     .in = in,
			     .is_scope = true,
			     .is_statement = true,
			     .way = way_of_scope(c->r, c->u, c->file, stmt, &t) };
	const char *args = "";

	if (p.way.unit == WAY_NONE || !is_told(&p.way, count(t.args)))
		return;
	for (size_t i = 0; t.args[i] && t.args[i][0]; i++)
		args = text_format(c->r->code, "%s%s%s", args, i ? ", " : "",
				   (int)i == p.way.addr  ? "{addr}"
				   : (int)i == p.way.len ? "{len}"
							 : t.args[i]);
	p.is_named_after = p.way.unit == WAY_THING &&
			   strcmp(t.name, scope_name_of(c->r, t.args[p.way.addr])) == 0;
	p.name = t.destructor->name;
	p.function = t.destructor;
	p.call = text_format(c->r->code, "%s%s%c%s%c", t.type, "{name}", t.open, args,
			     t.open == '(' ? ')' : '}');
	add_use(c, &p, false);
}

static void collect_calls(struct collecting *c)
{
	for (size_t i = 0; i < c->u->nfunctions; i++) {
		const struct source_function *f = &c->u->functions[i];
		bool is_helper;

		if (!f->body || strcmp(f->file, c->file->path) != 0)
			continue;
		is_helper = idiom_is_helper(c->r, c->u, f);
		for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
			if (n->kind == SOURCE_CALL)
				add_call(c, f, n, is_helper);
			else if (n->kind == SOURCE_DECL)
				add_scope(c, f, n);
	}
}

/* ---- what the file could call ---- */

static bool has_function(const struct collecting *c, const struct source_function *f)
{
	for (size_t i = 0; i < c->to->list.n; i++)
		if (c->to->list.at[i].uses && c->to->list.at[i].function &&
		    function_is_same(c->to->list.at[i].function, f))
			return true;
	return false;
}

static bool is_called(const struct collecting *c, const char *name)
{
	for (size_t i = 0; i < c->u->nfunctions; i++) {
		const struct source_function *f = &c->u->functions[i];

		if (!f->body || strcmp(f->file, c->file->path) != 0)
			continue;
		for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
			if (n->kind == SOURCE_CALL && n->name && strcmp(n->name, name) == 0)
				return true;
	}
	return false;
}

/* Returns the object on which a method can be called, and the place of a call that shows it:
 * "region." for region.drain() in a file that calls region.flush(…). */
static const char *object_of(struct collecting *c, const struct source_function *f,
			     struct pattern *p)
{
	for (size_t i = 0; i < c->to->list.n; i++) {
		const struct pattern *other = &c->to->list.at[i];
		const struct source_node *callee =
			other->example && other->uses ? source_bare(other->example->child) : NULL;
		const char *text = callee ? text_of(c->r->code, c->file, callee) : "";
		size_t len = strlen(text), name_len = strlen(other->name);

		if (!callee || !other->function || !other->function->scope || !f->scope ||
		    strcmp(other->function->scope, f->scope) != 0 || !other->function->is_method ||
		    callee->kind != SOURCE_MEMBER || !callee->child || len <= name_len)
			continue;
		p->object = callee;
		p->in = other->in;
		return text_copy(c->r->code, text, len - name_len);
	}
	return NULL;
}

/* Returns the length of the scopes that two names have in common: that of "pm::" for "pm::node::"
 * and "pm::tree::". */
static size_t common_scope(const char *a, const char *b)
{
	size_t n = 0;

	for (size_t i = 0; a[i] && a[i] == b[i]; i++)
		if (i > 0 && a[i] == ':' && a[i - 1] == ':')
			n = i + 1;
	return n;
}

/* Returns the scope as the file has to write it: without the scopes that contain all functions of
 * the file. */
static const char *scope_here(const struct collecting *c, const char *scope)
{
	size_t n = strlen(scope);

	for (size_t i = 0; i < c->u->nfunctions; i++) {
		const struct source_function *f = &c->u->functions[i];
		size_t shared = common_scope(scope, f->scope ? f->scope : "");

		if (f->body && strcmp(f->file, c->file->path) == 0 && shared < n)
			n = shared;
	}
	return scope + n;
}

static void add_function(struct collecting *c, const struct source_function *f)
{
	struct pattern p = { .name = f->name, .function = f, .is_library = f->is_system };
	const char *scope = f->scope ? scope_here(c, f->scope) : "";
	size_t nused;

	if (f->name[0] == '~' || (f->is_system ? !idiom_known(f->name) : has_function(c, f)))
		return;
	if (f->is_system) {
		p.way = way_of_library(f->name);
		p.call = library_call(c, f->name, &p.way);
	} else {
		if (!f->body && !idiom_name(f->name))
			return;
		p.way = *way_of_declared(c->r, c->u, f);
		nused = (size_t)(p.way.addr >= 0) + (p.way.len >= 0);
		if (p.way.unit == WAY_NONE ||
		    f->nparameters >
			    nused + (f->nparameters && type_is_pool(f->parameters[0].type)))
			return;
		if (f->is_method && p.way.addr != WAY_THIS)
			scope = f->is_hidden ? NULL : object_of(c, f, &p);
		if (!scope)
			return;
		p.call = call_text(c,
				   p.way.addr == WAY_THIS
					   ? f->name
					   : text_format(c->r->code, "%s%s", scope, f->name),
				   &p.way, f, NULL, f->nparameters);
	}
	for (size_t i = 0; p.call && i < c->to->list.n; i++)
		if (strcmp(c->to->list.at[i].call, p.call) == 0)
			return;
	if (p.call)
		*vec_add(&c->to->list) = p;
}

/* Adds calls with other macros that make the same structure. */
static void add_slices(struct collecting *c, const struct source_function *f)
{
	struct way whole;

	if (f->is_system || f->nparameters != 1 || !f->body || !way_of_slice(c->r, c->u, f, &whole))
		return;
	for (size_t i = 0; i < c->u->nmacros; i++) {
		struct pattern p = { .name = f->name, .function = f, .way = whole };
		bool is_there = c->u->macros[i].is_system;

		p.call = is_there ? NULL
				  : way_slice_call(c->r, f, f->name, &c->u->macros[i], &p.way);
		for (size_t k = 0; p.call && k < c->to->list.n; k++)
			is_there |= strcmp(c->to->list.at[k].call, p.call) == 0;
		if (p.call && !is_there)
			*vec_add(&c->to->list) = p;
	}
}

/* Adds the call through a member to which the file assigns a function: `b->drain = drain;`. */
static void add_assigned(struct collecting *c, const struct source_function *in,
			 const struct source_node *assignment)
{
	const struct source_unit *u = c->u;
	const struct source_node *to = assignment->child;
	struct pattern p = { .name = to ? to->name : NULL,
			     .function = way_assigned(c->r, &u, assignment),
			     .is_pointer = true,
			     .object = to,
			     .in = in };

	if (!p.function || !p.function->body || !p.name ||
	    macro_use(c->u, c->file->path, assignment))
		return;
	p.way = *way_of_function(c->r, u, p.function);
	if (p.way.unit == WAY_NONE ||
	    p.function->nparameters != (size_t)(p.way.addr >= 0) + (p.way.len >= 0))
		return;
	p.call = call_text(c, text_of(c->r->code, c->file, to), &p.way, p.function, NULL,
			   p.function->nparameters);
	for (size_t i = 0; p.call && i < c->to->list.n; i++)
		if (strcmp(c->to->list.at[i].call, p.call) == 0)
			return;
	if (p.call)
		*vec_add(&c->to->list) = p;
}

static void add_all_assigned(struct collecting *c)
{
	for (size_t i = 0; i < c->u->nfunctions; i++) {
		const struct source_function *f = &c->u->functions[i];

		for (const struct source_node *n =
			     f->body && strcmp(f->file, c->file->path) == 0 ? f->body : NULL;
		     n; n = node_next(n, f->body))
			if (n->kind == SOURCE_BINARY && n->child && n->child != n->last)
				add_assigned(c, f, n);
	}
}

static const struct source_node *node_of_use(const struct collecting *c,
					     const struct source_use *use,
					     const struct source_function **in)
{
	for (size_t i = 0; i < c->u->nfunctions; i++) {
		const struct source_function *f = &c->u->functions[i];

		if (!f->body || use->begin < f->begin || use->end > f->end ||
		    strcmp(f->file, use->file) != 0)
			continue;
		*in = f;
		for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
			if (n->begin == use->begin && n->end >= use->end)
				return n;
	}
	return NULL;
}

static void add_macro(struct collecting *c, const struct source_macro *m)
{
	struct pattern p = { .name = m->name,
			     .macro = m,
			     .way = way_of_macro(c->r, c->u, m, 0, way_of_declared) };
	size_t n = p.way.unit == WAY_FENCE ? 0 : (size_t)(p.way.addr >= 0) + (p.way.len >= 0);
	const char *body = strchr(m->text, ')');

	if (p.way.unit == WAY_NONE || p.way.unit == WAY_OBJECT)
		return;
	if (p.way.unit == WAY_MEMBER)
		p.call = p.way.addr < p.way.len
				 ? text_format(c->r->code, "%s({addr}, {len})", m->name)
				 : text_format(c->r->code, "%s({len}, {addr})", m->name);
	else
		p.call = m->is_function ? call_text(c, m->name, &p.way, NULL, NULL, n) : m->name;
	if (!p.call)
		return;
	body = m->is_function && body ? body + 1 + strspn(body + 1, " \t\\\n") : m->text;
	p.is_statement = strncmp(body, "do", 2) == 0 || body[0] == '{' ||
			 strncmp(body, "for", 3) == 0 || strncmp(body, "asm", 3) == 0 ||
			 strncmp(body, "__asm", 5) == 0;
	for (size_t i = 0; i < c->u->nuses; i++) {
		const struct source_use *use = &c->u->uses[i];
		const struct source_function *in = NULL;
		const struct source_node *at;
		const char *guard;

		if (strcmp(use->name, m->name) != 0 || strcmp(use->file, c->file->path) != 0)
			continue;
		at = node_of_use(c, use, &in);
		if (in && idiom_is_helper(c->r, c->u, in)) {
			p.nhidden++;
			continue;
		}
		guard = at ? guard_of(c->r, c->file, in, at) : NULL;
		p.guard = p.uses == 0 ? guard : guard_common(c->r, p.guard, guard);
		p.example = at;
		p.in = in;
		p.uses++;
	}
	*vec_add(&c->to->list) = p;
}

/* Counts calls by helpers and macros of any file. What only helpers call is further from what a fix
 * should call. */
static void count_hidden(struct collecting *c)
{
	for (size_t i = 0; i < c->to->list.n; i++) {
		struct pattern *p = &c->to->list.at[i];

		for (size_t k = 0; k < c->to->list.n; k++) {
			const struct pattern *outer = &c->to->list.at[k];
			const struct source_function *f = outer->function;

			if (i == k)
				continue;
			if (outer->macro && strcmp(outer->name, p->name) != 0)
				p->nhidden +=
					text_has_word(strchr(outer->macro->text, ' ')
							      ? strchr(outer->macro->text, ' ')
							      : "",
						      p->name);
			for (const struct source_node *n = f && f->body ? f->body : NULL; n;
			     n = node_next(n, f->body))
				p->nhidden += n->kind == SOURCE_CALL && n->name &&
					      strcmp(n->name, p->name) == 0;
		}
		for (size_t k = 0; p->macro && k < c->u->nuses; k++) {
			const struct source_function *in = NULL;

			if (strcmp(c->u->uses[k].name, p->name) == 0 &&
			    strcmp(c->u->uses[k].file, c->file->path) != 0 &&
			    node_of_use(c, &c->u->uses[k], &in) && in)
				p->nhidden += idiom_is_helper(c->r, c->u, in);
		}
	}
}

/* Asks whether the file itself calls something that flushes. */
static bool has_flush(const struct collecting *c)
{
	for (size_t i = 0; i < c->to->list.n; i++)
		if (c->to->list.at[i].uses && c->to->list.at[i].way.does & DOES_FLUSH)
			return true;
	return false;
}

/* Parses files that define functions which this file calls, or whose names promise to flush. */
static void read_others(struct collecting *c)
{
	size_t nunits = c->r->code->units.n;
	bool flushes = has_flush(c);

	for (size_t i = 0; i < c->u->nfunctions; i++) {
		const struct source_function *f = &c->u->functions[i];

		if (!f->body && !f->is_system &&
		    (idiom_name(f->name) || (!flushes && f->returns_void && is_called(c, f->name))))
			way_of_declared(c->r, c->u, f);
	}
	if (c->r->code->units.n == nunits)
		return;
	memo_forget(c->r); /* results for functions without body may change */
	c->to->list.n = 0;
	collect_calls(c);
}

const struct patterns *patterns_of(struct repair *r, const struct source_unit *u,
				   const struct file *file)
{
	struct collecting c = { .r = r, .u = u, .file = file };

	for (size_t i = 0; i < r->idioms->patterns.n; i++)
		if (r->idioms->patterns.at[i]->unit == u &&
		    strcmp(r->idioms->patterns.at[i]->file->path, file->path) == 0)
			return r->idioms->patterns.at[i];
	c.to = xcalloc(1, sizeof *c.to);
	*c.to = (struct patterns){ .unit = u, .file = file };
	*vec_add(&r->idioms->patterns) = c.to;
	collect_calls(&c);
	read_others(&c);
	add_all_assigned(&c);
	for (size_t i = 0; i < u->nfunctions; i++) {
		add_function(&c, &u->functions[i]);
		add_slices(&c, &u->functions[i]);
	}
	for (size_t i = 0; i < u->nmacros; i++)
		if (!u->macros[i].is_system) /* those of the system are thousands */
			add_macro(&c, &u->macros[i]);
	count_hidden(&c);
	return c.to;
}
