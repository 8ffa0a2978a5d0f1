/* Finds out what a macro flushes from its text: calls of functions and macros with arguments made
 * of the parameters, inline assembly, intrinsics. If the text is more complicated, two parameters
 * are taken as address and length, in the order in which uses of the macro pass them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "repair/idiom/internal.h"
#include "util/str.h"

enum { PARAMETERS_MAX = 6, DEPTH_MAX = 4 };

struct macro {
	struct repair *r;
	const struct source_unit *u;
	const struct source_macro *m;
	const char *names[PARAMETERS_MAX];
	size_t n; /* number of parameters */
	const char *body;
	int depth;
	way_resolver *of;
};

/* ---- parsing the text ---- */

static bool macro_read(struct macro *m)
{
	const char *p = strchr(m->m->text, '('), *close = p ? strchr(p, ')') : NULL;

	if (!m->m->is_function) {
		m->body = m->m->text + strlen(m->m->name);
		m->n = 0;
	} else {
		if (!close)
			return false;
		for (p++; p < close;) {
			size_t len = 0;

			p += strspn(p, " \t\\\n,");
			while (str_is_word_char(p[len]))
				len++;
			if (!len && p < close)
				return false; /* any number of arguments (...) */
			if (len && m->n == PARAMETERS_MAX)
				return false;
			if (len)
				m->names[m->n++] = text_copy(m->r->code, p, len);
			p += len;
		}
		m->body = close + 1;
	}
	m->body += strspn(m->body, " \t\\\n");
	return m->body[0] != 0;
}

/* Returns the text without blanks, parentheses, and casts to pointers and integers: "&(p)->f" and
 * "&((p)->f)" become "&p->f". */
static const char *bare(struct repair *r, const char *text)
{
	static const char *const casts[] = { "uintptr_t)", "size_t)", "unsigned long)", "uint64_t)",
					     "unsigned long long)" };
	char *out = arena_alloc(&r->code->arena, strlen(text) + 1), *to = out;

	for (const char *p = text; *p; p++) {
		const char *close = *p == '(' ? strchr(p, ')') : NULL;
		bool is_cast = false;

		for (const char *q = close; q && q > p + 1 && q[-1] == '*' &&
					    strcspn(p + 1, "()&+-/>.[") == (size_t)(q - p - 1) &&
					    isalpha((unsigned char)p[1]);) {
			is_cast = true;
			break;
		}
		for (size_t i = 0; close && i < sizeof casts / sizeof casts[0]; i++)
			is_cast |= strncmp(p + 1, casts[i], strlen(casts[i])) == 0;
		if (is_cast) {
			p = close;
			continue;
		}
		if (!isspace((unsigned char)*p) && !strchr("()\\", *p))
			*to++ = *p;
	}
	*to = 0;
	return out;
}

static int parameter(const struct macro *m, const char *text)
{
	for (size_t i = 0; i < m->n; i++)
		if (strcmp(m->names[i], text) == 0)
			return (int)i;
	return -1;
}

/* ---- one statement of the text ---- */

/* Finds the way of a function with this name and number of parameters. */
static bool function_way(const struct macro *m, const char *name, size_t nargs, struct way *w)
{
	for (size_t i = 0; i < m->u->nfunctions; i++) {
		const struct source_function *f = &m->u->functions[i];

		if (strcmp(f->name, name) != 0 || f->is_system ||
		    (nargs != SIZE_MAX && f->nparameters != nargs))
			continue;
		*w = *m->of(m->r, m->u, f);
		if (w->unit != WAY_NONE)
			return true;
	}
	return false;
}

/* Finds the way of a call in the text. nargs: number of arguments; SIZE_MAX for any. */
static bool call_way(const struct macro *m, const char *name, size_t nargs, struct way *w)
{
	unsigned does = idiom_known(name);

	if (!does && (function_way(m, name, nargs, w) ||
		      (nargs != SIZE_MAX && function_way(m, name, SIZE_MAX, w))))
		return true;
	for (size_t i = m->u->nmacros; i-- > 0 && !does;)
		if (!m->u->macros[i].is_system && strcmp(m->u->macros[i].name, name) == 0 &&
		    m->depth < DEPTH_MAX) {
			*w = way_of_macro(m->r, m->u, &m->u->macros[i], m->depth + 1, m->of);
			return w->unit != WAY_NONE;
		}
	if (!does)
		return false;
	*w = (struct way){ .does = does,
			   .unit = does == DOES_FENCE              ? WAY_FENCE
				   : strncmp(name, "pmem", 4) == 0 ? WAY_RANGE
								   : WAY_LINE };
	w->addr = strncmp(name, "pmemobj_", 8) == 0 ? 1 : 0;
	w->len = w->unit == WAY_RANGE ? w->addr + 1 : WAY_NO_ARGUMENT;
	return true;
}

/* Turns the way of an inner call into that of the macro, by the parameters of which the arguments
 * are made. */
static void unify(const struct macro *m, const struct way *inner, const char *const *args, size_t n,
		  struct way *w)
{
	const char *addr =
		inner->addr >= 0 && (size_t)inner->addr < n ? bare(m->r, args[inner->addr]) : "";
	const char *len =
		inner->len >= 0 && (size_t)inner->len < n ? bare(m->r, args[inner->len]) : "";
	const char *arrow = addr[0] == '&' ? strstr(addr, "->") : NULL;
	bool by_line = inner->unit == WAY_LINE,
	     is_pointee = strncmp(len, "sizeof*", 7) == 0 && strcmp(len + 7, addr) == 0;
	bool is_same = by_line || (addr[0] == '&' && strncmp(len, "sizeof", 6) == 0 &&
				   strcmp(len + 6, addr + 1) == 0);

	*w = (struct way){ .does = inner->does,
			   .addr = parameter(m, addr),
			   .len = parameter(m, len),
			   .is_line = by_line };
	if (inner->unit == WAY_THING || inner->unit == WAY_POINTEE || inner->unit == WAY_OBJECT) {
		/* a macro that uses such a macro */
		w->unit = w->addr >= 0 ? inner->unit : WAY_NONE;
	} else if (w->addr >= 0 && (inner->unit == WAY_RANGE || inner->unit == WAY_LINES) &&
		   w->len >= 0) {
		w->unit = inner->unit;
	} else if (w->addr >= 0 && by_line) {
		w->unit = WAY_LINE;
	} else if (w->addr >= 0 && is_pointee) {
		w->unit = WAY_POINTEE;
	} else if (addr[0] == '&' && is_same && parameter(m, addr + 1) >= 0) {
		w->unit = WAY_THING;
		w->addr = parameter(m, addr + 1);
	} else if (arrow && is_same) {
		w->addr = parameter(m, text_copy(m->r->code, addr + 1, (size_t)(arrow - addr - 1)));
		w->len = parameter(m, arrow + 2);
		w->unit = w->addr >= 0 && w->len >= 0 ? WAY_MEMBER : WAY_NONE;
	}
}

/* Finds the way of inline assembly whose operand is a parameter. */
static bool assembly_way(const struct macro *m, const char *text, struct way *w)
{
	const char *flush, *operand, *close;
	unsigned does;

	if (!idiom_asm_text(text, &does, &flush))
		return false;
	*w = (struct way){ .does = does,
			   .unit = does == DOES_FENCE ? WAY_FENCE : WAY_NONE,
			   .addr = WAY_NO_ARGUMENT,
			   .len = WAY_NO_ARGUMENT };
	if (does & DOES_FLUSH) { /* "r"(p), "+m"(*(volatile char *)(p)) */
		struct way line = {
			.unit = WAY_LINE, .does = does, .addr = 0, .len = WAY_NO_ARGUMENT
		};
		const char *args[1], *inner;

		operand = strchr(text, ':');
		operand = operand ? strpbrk(operand, "(") : NULL;
		close = operand ? operand : NULL;
		for (int depth = 0; close && *close; close++) {
			depth += *close == '(' ? 1 : *close == ')' ? -1 : 0;
			if (depth == 0)
				break;
		}
		if (!close || !*close)
			return true;
		inner = bare(m->r, text_copy(m->r->code, operand, (size_t)(close - operand) + 1));
		args[0] = inner[0] == '*' ? inner + 1
			  : parameter(m, inner) >= 0 && strstr(text, "m\"")
				  ? text_format(m->r->code, "&%s", inner)
				  : inner;
		unify(m, &line, args, 1, w);
	}
	return true;
}

static bool statement_way(const struct macro *m, const char *text, struct way *w)
{
	const char *name, **args;
	size_t len = 0, n = 0;
	struct file whole;
	struct way inner;

	text += strspn(text, " \t\\\n");
	if (strncmp(text, "(void)", 6) == 0)
		text += 6 + strspn(text + 6, " \t");
	if (strncmp(text, "asm", 3) == 0 || strncmp(text, "__asm", 5) == 0)
		return assembly_way(m, text, w);
	while (str_is_word_char(text[len]) || (text[len] == ':' && text[len + 1] == ':') ||
	       (len && text[len] == ':'))
		len++;
	name = text_copy(m->r->code, text, len);
	for (const char *p = name; (p = strstr(p, "::")); p += 2)
		name = p + 2;
	whole = (struct file){ .text = (char *)text, .len_bytes = (uint32_t)strlen(text) };
	args = len ? text_arguments(m->r->code, &whole, 0, whole.len_bytes) : NULL;
	while (args && args[n] && args[n][0])
		n++;
	if (!len || !call_way(m, name, n, &inner))
		return false;
	if (inner.unit == WAY_FENCE)
		*w = (struct way){ .unit = WAY_FENCE, .does = DOES_FENCE };
	else
		unify(m, &inner, args, n, w);
	return true;
}

/* ---- the whole text ---- */

/* Returns the statements of "do { a; b; } while (0)", of "(a)" or of "a; b". NULL ends the list. */
static const char **statements(const struct macro *m)
{
	const char **list = arena_alloc(&m->r->code->arena, 9 * sizeof *list), *p = m->body,
		   *end = p + strlen(p), *from;
	size_t n = 0;
	int depth = 0;

	if (strncmp(p, "do", 2) == 0 && !str_is_word_char(p[2])) {
		const char *open = strchr(p, '{'), *last = strrchr(p, '}');

		p = open && last ? open + 1 : p;
		end = open && last ? last : end;
	}
	while (*p == '(' && end > p && end[-1] == ')' && strncmp(p, "(void)", 6) != 0) {
		p++;
		end--;
	}
	for (from = p; p <= end && n < 8; p++) {
		depth += p < end && strchr("([{", *p) ? 1 : p < end && strchr(")]}", *p) ? -1 : 0;
		if (p < end && !(depth == 0 && (*p == ';' || *p == ',')))
			continue;
		list[n] = text_copy(m->r->code, from, (size_t)(p - from));
		n += list[n][strspn(list[n], " \t\\\n")] != 0;
		from = p + 1;
	}
	list[n] = NULL;
	return list;
}

/* Returns what the names and the assembly in the text do altogether. */
static unsigned text_does(const struct macro *m)
{
	unsigned does = 0, by_asm;
	const char *flush;
	struct way w;

	for (const char *p = m->body; *p;) {
		size_t len = 0;

		while (str_is_word_char(p[len]))
			len++;
		if (len && call_way(m, text_copy(m->r->code, p, len), SIZE_MAX, &w))
			does |= w.does;
		if ((strncmp(p, "asm", 3) == 0 || strncmp(p, "__asm", 5) == 0) &&
		    idiom_asm_text(p, &by_asm, &flush))
			does |= by_asm;
		p += len ? len : 1;
	}
	return does;
}

/* Asks whether the argument looks like a number of bytes. */
static bool is_length(const char *text)
{
	return strstr(text, "sizeof") || strstr(text, "strlen") ||
	       isdigit((unsigned char)text[0]) || strstr(text, "len") || strstr(text, "size");
}

/* Asks whether the second parameter is the address and the first one the length, by the arguments
 * of some use, or else by the parameters' names. */
static bool is_length_first(const struct macro *m)
{
	static const char *const words[] = { "len", "size", "sz", "n", "bytes", "count" };

	for (size_t i = 0; i < m->u->nuses; i++) {
		const struct source_use *use = &m->u->uses[i];
		const struct file *f = strcmp(use->name, m->m->name) == 0
					       ? file_open(m->r->code, use->file)
					       : NULL;
		const char **args = f ? text_arguments(m->r->code, f, use->begin, use->end) : NULL;

		if (args && args[0] && args[1] && is_length(args[0]) != is_length(args[1]))
			return is_length(args[0]);
	}
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(m->names[0], words[i]) == 0)
			return true;
	return false;
}

static struct way by_whole_text(const struct macro *m)
{
	unsigned does = text_does(m) | idiom_name(m->m->name);
	struct way w = { .does = does, .addr = WAY_NO_ARGUMENT, .len = WAY_NO_ARGUMENT };

	if (m->n == 0 && does == DOES_FENCE && idiom_name(m->m->name) && m->m->is_function)
		w.unit = WAY_FENCE;
	if (m->n == 2 && does & DOES_FLUSH &&
	    (idiom_name(m->m->name) || strstr(m->body, "for") || strstr(m->body, "while"))) {
		w.unit = WAY_RANGE;
		w.len = !is_length_first(m);
		w.addr = !w.len;
	}
	return w;
}

struct way way_of_macro(struct repair *r, const struct source_unit *u,
			const struct source_macro *text, int depth, way_resolver *of)
{
	struct macro m = { .r = r, .u = u, .m = text, .depth = depth, .of = of };
	struct way all = { .unit = WAY_NONE }, w;

	if (!macro_read(&m))
		return all;
	for (const char **s = statements(&m); *s; s++) {
		if (!statement_way(&m, *s, &w) ||
		    (w.does & DOES_FLUSH && (w.unit == WAY_NONE || all.does & DOES_FLUSH)))
			return m.m->is_function ? by_whole_text(&m)
						: (struct way){ .unit = WAY_NONE };
		if (w.does & DOES_FLUSH) {
			all = w;
		} else if (all.unit == WAY_NONE) {
			all = w; /* a fence before the flush */
		} else {
			all.does |= w.does;
		}
	}
	return all;
}

unsigned way_macro_ends(struct repair *r, const struct source_unit *u, const char *name,
			way_resolver *of)
{
	unsigned last = 0;

	for (size_t i = u->nmacros; i-- > 0;) {
		struct macro m = { .r = r, .u = u, .m = &u->macros[i], .of = of };

		if (u->macros[i].is_system || strcmp(u->macros[i].name, name) != 0 ||
		    !macro_read(&m))
			continue;
		for (const char **s = statements(&m); *s; s++) {
			unsigned does;

			m.body = *s;
			does = text_does(&m);
			last = does ? does : last;
		}
		return last;
	}
	return 0;
}

/* Returns the way of a template. Its calls are not resolved before it is used, so its body is read
 * like the text of a macro. */
struct way way_of_template(struct repair *r, const struct source_unit *u,
			   const struct source_function *f, way_resolver *of)
{
	const struct file *file = file_open(r->code, f->file);
	struct source_macro m = { .name = f->name, .file = f->file, .is_function = true };
	const char *names = "", *type;
	struct way w;

	if (!file || f->nparameters != 1 || !f->parameters[0].name)
		return (struct way){ .unit = WAY_NONE };
	for (size_t i = 0; i < f->nparameters; i++)
		names = text_format(r->code, "%s%s%s", names, i ? ", " : "", f->parameters[i].name);
	m.text = text_format(r->code, "%s(%s) do %.*s while (0)", f->name, names,
			     (int)(f->body->end - f->body->begin), file->text + f->body->begin);
	w = way_of_macro(r, u, &m, 0, of);
	type = f->parameters[0].type;
	if ((w.unit == WAY_THING && !(type && strchr(type, '&'))) ||
	    (w.unit == WAY_POINTEE && !(type && strchr(type, '*'))) ||
	    (w.unit != WAY_THING && w.unit != WAY_POINTEE))
		w.unit = WAY_NONE;
	return w;
}
