/* Finds how a program makes a file or a folder durable: a function or macro of its own, or fsync or
 * fdatasync, and how it tests whether that failed. Functions are known by what they do: they sync
 * what they are given, and neither close it nor write to it. */
#include <string.h>

#include "repair/idiom/internal.h"

enum { DEPTH_MAX = 3 };

static bool is_named(const struct source_node *n, const char *name)
{
	return n && n->kind == SOURCE_NAME && n->name && strcmp(n->name, name) == 0;
}

static bool is_call_of(const struct source_node *n, const char *const *names)
{
	for (size_t i = 0; n->kind == SOURCE_CALL && n->name && names[i]; i++)
		if (strcmp(n->name, names[i]) == 0)
			return true;
	return false;
}

static const char *const syncs[] = { "fsync", "fdatasync", NULL };

/* ---- what a function syncs ---- */

/* Asks whether every call of the function gets to the node, unless an error comes first: it is
 * under no condition but that of other calls that failed. */
static bool is_always(const struct source_node *n, const struct source_node *top)
{
	for (; n != top; n = n->parent) {
		const struct source_node *p = n->parent;

		if (!p)
			return false;
		if ((p->kind == SOURCE_IF || p->kind == SOURCE_CONDITIONAL ||
		     p->kind == SOURCE_WHILE || p->kind == SOURCE_SWITCH) &&
		    n != p->child)
			return false;
		if (p->kind == SOURCE_FOR || p->kind == SOURCE_LAMBDA || p->kind == SOURCE_LABEL)
			return false;
		if (p->kind == SOURCE_BINARY && n != p->child && strcmp(p->op, "||") != 0 &&
		    strcmp(p->op, "&&") != 0 && !node_is_assignment(p))
			return false;
	}
	return true;
}

/* Asks whether the function does anything else that matters: it closes what it is given, or changes
 * a file. What it does under a condition (die on an error) does not count. */
static bool does_more(const struct source_unit *u, const struct source_function *f,
		      const struct source_node *sync)
{
	static const char *const allowed[] = { "fsync",  "fdatasync", "fflush",  "fileno", "open",
					       "openat", "close",     "dirname", NULL };

	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		if (n->kind == SOURCE_LAMBDA || n->kind == SOURCE_ASM)
			return true;
		if (n->kind != SOURCE_CALL || n == sync || is_call_of(n, allowed))
			continue;
		if (is_always(n, f->body) && (!call_is_of_library(u, n) || call_is_output(n)))
			return true;
	}
	return false;
}

/* Asks whether the call closes this parameter. */
static bool closes(const struct source_function *f, const char *parameter)
{
	static const char *const names[] = { "close", "fclose", NULL };

	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		if (is_call_of(n, names) && is_named(call_argument(n, 0), parameter))
			return true;
	return false;
}

static int parameter_named(const struct source_function *f, const char *name)
{
	for (size_t i = 0; name && i < f->nparameters; i++)
		if (f->parameters[i].name && strcmp(f->parameters[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* Returns the call of open whose result this variable holds; NULL: none, or several. */
static const struct source_node *opened(const struct source_function *f, const char *name)
{
	static const char *const opens[] = { "open", "openat", NULL };
	const struct source_node *found = NULL;

	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		const struct source_node *p = n->parent;

		if (!is_call_of(n, opens))
			continue;
		while (p && p->kind == SOURCE_EXPR)
			p = p->parent;
		if (!p || !((p->kind == SOURCE_VARIABLE && strcmp(p->name, name) == 0) ||
			    (node_is_assignment(p) && is_named(source_bare(p->child), name))))
			continue;
		if (found)
			return NULL;
		found = n;
	}
	return found;
}

/* Fills out for a function that opens a path, syncs and closes it. */
static bool syncs_path(struct repair *r, const struct source_function *f,
		       const struct source_node *descriptor, struct file_helper *out)
{
	const struct source_node *open = descriptor->name ? opened(f, descriptor->name) : NULL,
				 *path = open ? call_argument(open, open->name[4] ? 1 : 0) : NULL;
	bool cuts = false;

	if (path && f->nparameters == 0 && path->kind == SOURCE_LITERAL) {
		const struct file *file = file_open(r->code, f->file);

		out->does = FILE_SYNC_FOLDER;
		out->parameter = WAY_NO_ARGUMENT;
		out->folder = file ? text_of(r->code, file, path) : NULL;
		return out->folder && out->folder[0] == '"';
	}
	if (!path || f->nparameters == 0 || !f->parameters[0].is_pointer ||
	    !f->parameters[0].type || !strstr(f->parameters[0].type, "char"))
		return false;
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body))
		cuts |= n->kind == SOURCE_CALL && n->name &&
			(strcmp(n->name, "dirname") == 0 || strstr(n->name, "strrchr"));
	out->parameter = 0;
	out->does = cuts ? FILE_SYNC_PARENT : FILE_SYNC_FOLDER;
	/* the parent is computed from the path, so the path that is opened is another one */
	return f->nparameters == 1 &&
	       (cuts ? true
		     : parameter_named(f, path->kind == SOURCE_NAME ? path->name : NULL) == 0);
}

static bool syncs_stream(const struct source_function *f, const struct source_node *of,
			 struct file_helper *out)
{
	static const char *const flush[] = { "fflush", NULL };
	const char *name = of && of->kind == SOURCE_NAME ? of->name : NULL;

	out->parameter = parameter_named(f, name);
	out->does = FILE_SYNC_STREAM;
	for (const struct source_node *n = f->body; n && out->parameter >= 0;
	     n = node_next(n, f->body))
		if (is_call_of(n, flush) && is_named(call_argument(n, 0), name) &&
		    is_always(n, f->body))
			return f->nparameters == 1;
	return false;
}

static bool is_this(const struct source_node *n)
{
	return !n || (n->kind == SOURCE_EXPR && !n->child);
}

/* Fills out for a function that makes this call of fsync. */
static bool syncs_by(struct repair *r, const struct source_function *f,
		     const struct source_node *sync, struct file_helper *out)
{
	static const char *const of_stream[] = { "fileno", NULL };
	const struct source_node *arg = call_argument(sync, 0);

	if (!arg)
		return false;
	if (is_call_of(arg, of_stream))
		return syncs_stream(f, call_argument(arg, 0), out);
	if (arg->kind == SOURCE_MEMBER && is_this(source_bare(arg->child))) {
		*out = (struct file_helper){ .does = FILE_SYNC_MEMBER,
					     .member = arg->name,
					     .parameter = WAY_THIS };
		return f->is_method && f->nparameters == 0;
	}
	if (arg->kind == SOURCE_MEMBER && arg->child) {
		const struct source_node *object = source_bare(arg->child);

		out->does = FILE_SYNC_MEMBER;
		out->member = arg->name;
		out->parameter = parameter_named(
			f, object->kind == SOURCE_NAME && arg->is_arrow ? object->name : NULL);
		return f->nparameters == 1 && out->parameter == 0;
	}
	if (arg->kind != SOURCE_NAME || !arg->name)
		return false;
	out->does = FILE_SYNC_DESCRIPTOR;
	out->parameter = parameter_named(f, arg->name);
	if (out->parameter < 0)
		return syncs_path(r, f, arg, out);
	return f->nparameters == 1 && !closes(f, arg->name) &&
	       !node_assigns(f->body, NULL, arg->name);
}

bool file_helper_of(struct repair *r, const struct source_unit *u, const struct source_function *f,
		    struct file_helper *out, int depth)
{
	*out = (struct file_helper){ .function = f };
	if (f->is_system || f->is_variadic || !f->body || depth > DEPTH_MAX)
		return false;
	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		const struct source_function *callee =
			n->kind == SOURCE_CALL && n->name ? function_named(u, n->name) : NULL;
		struct file_helper inner;

		if (n->kind != SOURCE_CALL || !is_always(n, f->body))
			continue;
		if (is_call_of(n, syncs) && !callee) {
			if (!syncs_by(r, f, n, out))
				return false;
			out->function = f;
			return !does_more(u, f, n);
		}
		/* a wrapper of a wrapper */
		if (callee && callee != f && file_helper_of(r, u, callee, &inner, depth + 1) &&
		    inner.does == FILE_SYNC_DESCRIPTOR) {
			if (!syncs_by(r, f, n, out))
				return false;
			out->function = f;
			return !does_more(u, f, n);
		}
	}
	return false;
}

/* ---- how failure is tested ---- */

/* Returns the expression of which the call is the value, without parentheses and casts. */
static const struct source_node *value_of(const struct source_node *call)
{
	const struct source_node *n = call;

	while (n->parent && n->parent->kind == SOURCE_EXPR && n->parent->child == n &&
	       n->parent->last == n)
		n = n->parent;
	return n;
}

enum file_test file_test_of(const struct source_node *call)
{
	const struct source_node *n = value_of(call), *p = n->parent,
				 *other = p && p->kind == SOURCE_BINARY && n == p->child
						  ? source_bare_value(n->next)
						  : NULL;
	bool is_bool =
		call->type && (strcmp(call->type, "bool") == 0 || strcmp(call->type, "_Bool") == 0);

	if (p && p->kind == SOURCE_UNARY && p->op[0] == '!')
		return is_bool || (call->type &&
				   (strchr(call->type, '*') || strstr(call->type, "unsigned") ||
				    strstr(call->type, "size_t")))
			       ? FILE_TEST_FAILS
			       : FILE_TEST_WORKS;
	if (other && (strcmp(p->op, "<") == 0 || strcmp(p->op, "!=") == 0))
		return FILE_TEST_FAILS;
	if (other && strcmp(p->op, "==") == 0)
		return (other->has_value && other->value < 0) ||
				       (other->kind == SOURCE_UNARY && other->op[0] == '-')
			       ? FILE_TEST_FAILS
			       : FILE_TEST_WORKS;
	if (other && (strcmp(p->op, ">=") == 0 || strcmp(p->op, ">") == 0))
		return FILE_TEST_WORKS;
	if (p &&
	    ((p->kind == SOURCE_IF && n == p->child) ||
	     (p->kind == SOURCE_BINARY && (strcmp(p->op, "||") == 0 || strcmp(p->op, "&&") == 0))))
		return is_bool ? FILE_TEST_WORKS : FILE_TEST_FAILS;
	return FILE_TEST_NONE;
}

/* Returns the text behind a call that tests whether it failed, " < 0"; NULL: this is no such
 * test. */
static const char *suffix_of(struct repair *r, const struct file *f, const struct source_node *call)
{
	const struct source_node *n = value_of(call);

	if (file_test_of(call) != FILE_TEST_FAILS)
		return NULL;
	if (n->parent->kind == SOURCE_BINARY && n == n->parent->child &&
	    strcmp(n->parent->op, "||") != 0 && strcmp(n->parent->op, "&&") != 0)
		return text_copy(r->code, f->text + n->text_end, n->parent->text_end - n->text_end);
	return "";
}

/* If a macro of the file checks the call, returns the macro's use as it is written, with {file} for
 * what is synced: "CHECK(fsync({file}) == 0)". NULL: no macro does. */
static const char *checked_by_macro(struct repair *r, const struct source_unit *u,
				    const struct file *f, const struct source_node *call)
{
	const struct source_use *use = macro_use(u, f->path, call);
	const struct source_node *of = call_argument(call, 0);

	if (!use || !of || of->text_begin < use->begin || of->text_end > use->end ||
	    call->text_begin <= use->begin || call->text_end >= use->end || !call->parent ||
	    text_semicolon(f, use->end) == 0 || !text_begins_line(f, use->begin))
		return NULL;
	return text_format(r->code, "%.*s{file}%.*s", (int)(of->text_begin - use->begin),
			   f->text + use->begin, (int)(use->end - of->text_end),
			   f->text + of->text_end);
}

/* ---- choosing ---- */

/* Adds to the way how the file uses calls of that name. Calls inside helpers do not count. */
static void add_examples(struct repair *r, const struct fix *x, struct file_way *w)
{
	struct file_helper helper;

	for (size_t i = 0; i < x->unit->nfunctions; i++) {
		const struct source_function *f = &x->unit->functions[i];

		if (!f->body || strcmp(f->file, x->file->path) != 0 ||
		    file_helper_of(r, x->unit, f, &helper, 0))
			continue;
		for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
			const char *suffix, *check;

			if (n->kind != SOURCE_CALL || !n->name || strcmp(n->name, w->name) != 0)
				continue;
			w->uses++;
			w->is_bool |= n->type && (strcmp(n->type, "bool") == 0 ||
						  strcmp(n->type, "_Bool") == 0);
			check = checked_by_macro(r, x->unit, x->file, n);
			suffix = check ? NULL : suffix_of(r, x->file, n);
			w->check = w->check ? w->check : check;
			w->suffix = w->suffix ? w->suffix : suffix;
			w->nunchecked += file_test_of(n) == FILE_TEST_NONE && !check &&
					 node_is_body(x->file, value_of(n));
		}
	}
}

static unsigned count_uses(struct repair *r, const struct fix *x, const char *name)
{
	struct file_way w = { .name = name };

	add_examples(r, x, &w);
	return w.uses;
}

/* Returns the function with its body. Another file may have it, if its name says that it syncs. */
static const struct source_function *body_of(struct repair *r, const struct source_function *f,
					     const struct source_unit **u)
{
	struct source_unit *in = (struct source_unit *)*u;
	const char *why;

	if (f->body)
		return f;
	if (!strcasestr(f->name, "sync") && !strcasestr(f->name, "durable") &&
	    !strcasestr(f->name, "persist"))
		return NULL;
	for (size_t i = 0; i < r->code->db->n && !function_defined(r->code, &in, f->name); i++) {
		const struct file *file = file_open(r->code, r->code->db->files[i]);

		if (file && text_has_word(file->text, f->name))
			unit_open(r->code, r->code->db->files[i], &why);
		in = (struct source_unit *)*u;
	}
	f = function_defined(r->code, &in, f->name);
	*u = in;
	return f;
}

/* Returns the call of the helper for what is to be synced; NULL: it does not sync that. */
static const char *call_of_helper(struct repair *r, const struct fix *x, const struct file_need *n,
				  const struct source_function *declared,
				  const struct file_helper *h)
{
	const struct source_node *object = n->handle && n->handle->kind == SOURCE_MEMBER
						   ? source_bare(n->handle->child)
						   : NULL;
	const bool is_member = n->handle && n->handle->kind == SOURCE_MEMBER && h->member &&
			       strcmp(h->member, n->handle->name) == 0;

	if (h->folder)
		return n->does == FILE_SYNC_FOLDER && n->folder && strcmp(n->folder, h->folder) == 0
			       ? text_format(r->code, "%s()", declared->name)
			       : NULL;
	if (h->does == n->does && h->does != FILE_SYNC_MEMBER)
		return text_format(r->code, "%s({file})", declared->name);
	if (n->does != FILE_SYNC_DESCRIPTOR || h->does != FILE_SYNC_MEMBER || !is_member)
		return NULL;
	if (h->parameter == WAY_THIS)
		return is_this(object) && x->function->is_method && x->function->scope &&
				       declared->scope &&
				       strcmp(x->function->scope, declared->scope) == 0
			       ? text_format(r->code, "%s()", declared->name)
			       : NULL;
	if (!object || object->kind != SOURCE_NAME || !n->handle->is_arrow || !object->type ||
	    !declared->parameters[0].type ||
	    strcmp(object->type, declared->parameters[0].type) != 0)
		return NULL;
	return text_format(r->code, "%s(%s)", declared->name, text_of(r->code, x->file, object));
}

static void consider(struct repair *r, const struct fix *x, const struct file_need *n,
		     const struct source_function *declared, struct file_way *best)
{
	const struct source_unit *u = x->unit;
	const struct source_function *f;
	struct file_helper h;
	struct file_way w = { .name = declared->name };

	if (declared->is_system || declared->nparameters > 1 || declared->is_template ||
	    !function_is_visible(declared, x) || function_is_same(declared, x->function))
		return;
	f = body_of(r, declared, &u);
	if (!f || !f->body || !file_helper_of(r, u, f, &h, 0))
		return;
	w.call = call_of_helper(r, x, n, declared, &h);
	if (!w.call)
		return;
	w.is_own = true;
	w.has_status = !f->returns_void;
	add_examples(r, x, &w);
	/* without an example, nobody knows what its value means */
	if (w.has_status && !w.suffix && !w.check && !w.is_bool && w.nunchecked == 0 &&
	    !file_helper_is_negative(f))
		return;
	if (!best->call || w.uses > best->uses)
		*best = w;
}

bool file_helper_is_negative(const struct source_function *f)
{
	bool has_any = false;

	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		const struct source_node *v =
			n->kind == SOURCE_RETURN ? source_bare_value(n->child) : NULL;

		if (!v)
			continue;
		has_any = true;
		if (v->kind == SOURCE_CALL && is_call_of(v, syncs))
			continue;
		if (v->kind == SOURCE_UNARY && v->op[0] == '-')
			continue;
		if ((v->has_value && v->value <= 0) || v->kind == SOURCE_NAME)
			continue;
		return false;
	}
	return has_any;
}

/* Returns the file's own call of the C library: the one of the two that it uses more. */
static void library_way(struct repair *r, const struct fix *x, const struct file_need *n,
			struct file_way *w)
{
	const bool is_data =
		!n->is_folder && count_uses(r, x, "fdatasync") > count_uses(r, x, "fsync");

	*w = (struct file_way){ .name = is_data ? "fdatasync" : "fsync", .has_status = true };
	w->call = text_format(r->code,
			      n->does == FILE_SYNC_STREAM ? "%s(fileno({file}))" : "%s({file})",
			      w->name);
	add_examples(r, x, w);
}

bool file_way_find(struct repair *r, const struct fix *x, const struct file_need *n,
		   struct file_way *w)
{
	struct file_way own = { 0 };

	for (size_t i = 0; i < x->unit->nfunctions; i++)
		consider(r, x, n, &x->unit->functions[i], &own);
	*w = own;
	if (n->does == FILE_SYNC_PARENT || n->does == FILE_SYNC_FOLDER)
		return own.call != NULL;
	library_way(r, x, n, w);
	if (own.call && own.uses >= w->uses)
		*w = own;
	return true;
}
