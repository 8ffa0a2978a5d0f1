/* Recognises objects that write back in their destructor: `Scope guard(x);`. The constructor shows
 * which parameter is kept in which member. The destructor is then run as a function of these
 * members. A class whose destructor tests something first, or does more, does not count. */
#include <ctype.h>
#include <string.h>

#include "repair/idiom/internal.h"

enum { PARAMETERS_MAX = 6 };

/* ---- the class ---- */

/* Returns the class name: "Scope" for "pm::Scope::". */
static const char *class_name(struct repair *r, const struct source_function *method)
{
	const char *name = method->scope,
		   *end = method->scope ? method->scope + strlen(method->scope) - 2 : NULL;

	for (const char *p = name; p && (p = strstr(p, "::")) && p < end; p += 2)
		name = p + 2;
	return name ? text_copy(r->code, name, (size_t)(end - name)) : "";
}

static const struct source_function *constructor_of(struct repair *r, const struct source_unit *u,
						    const struct source_function *destructor)
{
	const char *class = class_name(r, destructor);
	const struct source_function *found = NULL;

	for (size_t i = 0; i < u->nfunctions; i++) {
		const struct source_function *f = &u->functions[i];
		size_t len = strlen(class);

		if (!f->body || !f->scope || !f->nparameters || f->nparameters > PARAMETERS_MAX ||
		    strcmp(f->scope, destructor->scope) != 0 || strncmp(f->name, class, len) != 0 ||
		    (f->name[len] && f->name[len] != '<') ||
		    (f->parameters[0].type && text_has_word(f->parameters[0].type, class)))
			continue;
		if (found)
			return NULL; /* it is unknown which constructor is called */
		found = f;
	}
	return found;
}

/* Returns the text without "this->". */
static const char *without_this(struct repair *r, const char *text)
{
	char *out = arena_alloc(&r->code->arena, strlen(text) + 1), *to = out;

	while (*text)
		if (strncmp(text, "this->", 6) == 0)
			text += 6;
		else
			*to++ = *text++;
	*to = 0;
	return out;
}

/* ---- the constructor ---- */

/* Returns the member that keeps a parameter, as in "member(param)", "member{&param}" or "member =
 * param"; NULL: none does. */
static const char *member_of(struct repair *r, const char *text, const char *param,
			     bool *is_address)
{
	for (const char *p = text; (p = strstr(p, param)); p += strlen(param)) {
		const char *from = p, *end = p + strlen(param), *name;

		end += strspn(end, " \t");
		if ((p > text && (isalnum((unsigned char)p[-1]) || p[-1] == '_')) ||
		    !strchr(")};", *end))
			continue;
		while (from > text && strchr(" \t", from[-1]))
			from--;
		*is_address = from > text && from[-1] == '&';
		from -= *is_address;
		if (from == text || !strchr("({=", from[-1]) || (from[-1] == '=') != (*end == ';'))
			continue;
		from--;
		while (from > text && strchr(" \t", from[-1]))
			from--;
		for (name = from;
		     name > text && (isalnum((unsigned char)name[-1]) || name[-1] == '_');)
			name--;
		if (name < from)
			return text_copy(r->code, name, (size_t)(from - name));
	}
	return NULL;
}

/* Asks whether the class declares the member as a reference: "T &object_;". */
static bool is_reference(const struct file *f, const char *member)
{
	size_t len = strlen(member);

	for (const char *p = f->text; (p = strstr(p, member)); p += len) {
		const char *q = p;

		while (q > f->text && strchr(" \t", q[-1]))
			q--;
		if (q > f->text && q[-1] == '&' && p[len + strspn(p + len, " \t")] == ';')
			return true;
	}
	return false;
}

/* ---- the destructor ---- */

/* Returns the method, if the destructor only calls one; otherwise the destructor. */
static const struct source_function *worker_of(const struct source_unit *u,
					       const struct source_function *destructor)
{
	const struct source_node *only = destructor->body->child;

	if (only && !only->next && only->kind == SOURCE_CALL && only->name && only->child &&
	    !only->child->next)
		for (size_t i = 0; i < u->nfunctions; i++)
			if (u->functions[i].body && u->functions[i].scope &&
			    strcmp(u->functions[i].scope, destructor->scope) == 0 &&
			    strcmp(u->functions[i].name, only->name) == 0 &&
			    !u->functions[i].nparameters)
				return &u->functions[i];
	return destructor;
}

static bool has_kind(const struct source_function *f, enum source_kind first, enum source_kind last)
{
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		if (n->kind >= first && n->kind <= last)
			return true;
	return false;
}

/* Asks whether the function tests something, so that it may not write back each time. */
static bool asks(const struct source_function *f)
{
	return has_kind(f, SOURCE_IF, SOURCE_IF) || has_kind(f, SOURCE_SWITCH, SOURCE_JUMP) ||
	       has_kind(f, SOURCE_CONDITIONAL, SOURCE_CONDITIONAL) ||
	       has_kind(f, SOURCE_STMT, SOURCE_STMT);
}

/* Replaces sizeof(T) by the size of the member, if the member is a "T &". */
static const char *with_size_of(struct repair *r, const char *text, const char *type,
				const char *member)
{
	size_t len = 0;
	const char *size, *at;

	type = type && strncmp(type, "const ", 6) == 0 ? type + 6 : type;
	while (type && (isalnum((unsigned char)type[len]) || type[len] == '_'))
		len++;
	if (!len || strcmp(type + len, " &") != 0)
		return text;
	size = text_format(r->code, "sizeof(%.*s)", (int)len, type);
	at = strstr(text, size);
	return at ? text_format(r->code, "%.*ssizeof(%s)%s", (int)(at - text), text, member,
				at + strlen(size))
		  : text;
}

/* Finds the way of a template's destructor. Its calls have no names before it is used, so it is
 * read like the text of a macro. */
static struct way way_by_text(struct repair *r, const struct source_unit *u,
			      const struct source_function *worker,
			      const struct source_function *as)
{
	const struct file *file = file_open(r->code, worker->file);
	struct source_macro m = { .name = "scope", .file = worker->file, .is_function = true };
	const char *names = "", *body;

	if (!file || has_kind(worker, SOURCE_FOR, SOURCE_DO))
		return (struct way){ .unit = WAY_NONE };
	for (size_t i = 0; i < as->nparameters; i++)
		names = text_format(r->code, "%s%s%s", names, i ? ", " : "",
				    as->parameters[i].name);
	body = without_this(r, text_copy(r->code, file->text + worker->body->begin,
					 worker->body->end - worker->body->begin));
	for (size_t i = 0; i < as->nparameters; i++)
		body = with_size_of(r, body, as->parameters[i].type, as->parameters[i].name);
	m.text = text_format(r->code, "scope(%s) do %s while (0)", names, body);
	return way_of_macro(r, u, &m, 0, way_of_declared);
}

static struct way way_of_class(struct repair *r, const struct source_unit *u,
			       const struct source_function *destructor)
{
	const struct source_function *constructor = constructor_of(r, u, destructor), *worker;
	const struct file *file = constructor ? file_open(r->code, constructor->file) : NULL;
	bool is_address[PARAMETERS_MAX] = { 0 }, is_kept[PARAMETERS_MAX] = { 0 };
	struct source_parameter parameters[PARAMETERS_MAX];
	/* the destructor as a function whose parameters are the members */
	struct source_function as = *destructor;
	struct way w = { .unit = WAY_NONE };
	const char *open;

	if (!file || strcmp(destructor->file, constructor->file) != 0)
		return w;
	worker = worker_of(u, destructor);
	if (asks(destructor) || asks(worker))
		return w;
	open = strchr(text_copy(r->code, file->text + constructor->begin,
				constructor->end - constructor->begin),
		      ')');
	for (size_t i = 0; open && i < constructor->nparameters; i++) {
		const char *member =
			constructor->parameters[i].name
				? member_of(r, without_this(r, open),
					    constructor->parameters[i].name, &is_address[i])
				: NULL;

		parameters[i] = constructor->parameters[i];
		parameters[i].name = member ? member : text_format(r->code, "not_kept_%zu", i);
		is_kept[i] = member != NULL;
	}
	as.parameters = parameters;
	as.nparameters = constructor->nparameters;
	way_alone(r, u, &as, &w);
	if (w.unit == WAY_NONE)
		w = way_by_text(r, u, worker, &as);
	if (!(w.does & DOES_FLUSH) || w.addr < 0 || !is_kept[w.addr] ||
	    (w.len >= 0 && !is_kept[w.len]))
		return (struct way){ .unit = WAY_NONE };
	if (w.unit == WAY_POINTEE && is_address[w.addr])
		w.unit = WAY_THING;
	else if (is_address[w.addr] ||
		 (w.unit == WAY_THING && !is_reference(file, parameters[w.addr].name)))
		w.unit = WAY_NONE; /* it flushes a copy and not what was passed */
	return w;
}

bool scope_is_part(struct repair *r, const struct source_unit *u, const struct source_function *f)
{
	for (size_t i = 0; f->is_method && f->scope && i < u->nfunctions; i++) {
		const struct source_function *d = &u->functions[i];

		if (d->name[0] == '~' && d->body && d->scope && strcmp(d->scope, f->scope) == 0)
			return (d == f || worker_of(u, d) == f) &&
			       way_of_class(r, u, d).unit != WAY_NONE;
	}
	return false;
}

/* ---- objects of the class ---- */

const char *scope_name_of(struct repair *r, const char *thing)
{
	size_t end = strlen(thing), begin;

	while (end > 0 && thing[end - 1] == ']')
		for (end--; end > 0 && thing[end] != '[';)
			end--;
	begin = end;
	while (begin > 0 && (isalnum((unsigned char)thing[begin - 1]) || thing[begin - 1] == '_'))
		begin--;
	if (thing[end] == '[' && end > begin && thing[end - 1] == '_')
		end--;
	if (thing[end] == '[' || thing[end] == '_')
		end -= end > begin && thing[end - 1] == 's';
	while (end > begin && thing[end - 1] == '_')
		end--;
	return text_copy(r->code, thing + begin, end - begin);
}

static const struct source_function *destructor_of(struct repair *r, const struct source_unit *u,
						   const struct source_node *variable)
{
	for (size_t i = 0; variable->type && i < u->nfunctions; i++)
		if (u->functions[i].name[0] == '~' && u->functions[i].body &&
		    u->functions[i].scope &&
		    text_has_word(variable->type, class_name(r, &u->functions[i])))
			return &u->functions[i];
	return NULL;
}

static const struct source_node *scope_variable(const struct source_node *n)
{
	return n->kind == SOURCE_DECL && n->child && n->child == n->last &&
			       n->child->kind == SOURCE_VARIABLE && n->child->name &&
			       !n->child->is_reference
		       ? n->child
		       : NULL;
}

/* Returns the place of the ( or { behind the variable's name; 0: the declaration has another
 * form. */
static uint32_t arguments_begin(const struct file *f, const struct source_node *v)
{
	size_t len = strlen(v->name);

	for (uint32_t at = v->begin; at + len < v->end; at++)
		if (strncmp(f->text + at, v->name, len) == 0 && strchr("({", f->text[at + len]) &&
		    at > v->begin && strchr(" \t\n", f->text[at - 1]))
			return at + (uint32_t)len;
	return 0;
}

struct way way_of_scope(struct repair *r, const struct source_unit *u, const struct file *f,
			const struct source_node *stmt, struct scope_text *t)
{
	const struct source_node *v = u->is_cplusplus ? scope_variable(stmt) : NULL;
	const struct source_function *destructor = v ? destructor_of(r, u, v) : NULL;
	uint32_t open = destructor && v->end <= f->len_bytes ? arguments_begin(f, v) : 0;
	struct way w = { .unit = WAY_NONE };
	struct file copy;
	char *text;

	if (!open)
		return w;
	w = way_of_class(r, u, destructor);
	text = (char *)text_copy(r->code, f->text + open, v->end - open);
	text[0] = '(';
	text[v->end - open - 1] = ')';
	copy = (struct file){ .text = text, .len_bytes = v->end - open };
	*t = (struct scope_text){ .destructor = destructor,
				  .name = v->name,
				  .type = text_copy(r->code, f->text + v->begin,
						    open - v->begin - strlen(v->name)) };
	t->args = text_arguments(r->code, &copy, 0, copy.len_bytes);
	t->open = f->text[open];
	return t->args ? w : (struct way){ .unit = WAY_NONE };
}

bool idiom_scope_at(struct repair *r, const struct source_unit *u, const struct file *f,
		    const struct source_node *stmt, struct idiom_flush *out)
{
	struct scope_text t;
	struct way w = way_of_scope(r, u, f, stmt, &t);
	size_t n = 0;

	*out = (struct idiom_flush){ .does = w.does };
	while (w.unit != WAY_NONE && t.args[n] && t.args[n][0])
		n++;
	if (w.unit == WAY_NONE || (size_t)w.addr >= n || (w.len >= 0 && (size_t)w.len >= n))
		return false;
	out->addr = w.unit == WAY_THING
			    ? text_format(r->code, "&%s", text_wrapped(r->code, t.args[w.addr]))
			    : t.args[w.addr];
	out->len = w.unit == WAY_RANGE ? t.args[w.len] : NULL;
	return w.unit == WAY_THING || w.unit == WAY_POINTEE || w.unit == WAY_RANGE;
}
