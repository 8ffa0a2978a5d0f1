/* Finds out which address and length a call passes, from its source line and the types in debug
 * information. It understands a length of one sizeof about the argument before it, such as flush(p,
 * sizeof(*p)); any other length is unknown. */
#include "source/call_arguments.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "source/dwarf_internal.h"
#include "source/variables.h"
#include "util/str.h"
#include "source/dwarf_types.h"

/* ---- functions and variables ---- */

/* Lists the scopes around the function's code, innermost first; free() the list. *first is the
 * index of the wanted function's scope. NULL if unknown. */
static Dwarf_Die *scopes_of(const struct code_place *f, int *first, int *n)
{
	Dwarf_Die cu, *inner = NULL, *scopes = NULL;
	size_t left = f->depth;

	*n = 0;
	if (!f->module || !dwarf_unit_at(f->module, f->pc, &cu) ||
	    dwarf_getscopes(&cu, f->pc, &inner) <= 0)
		return NULL;
	*n = dwarf_getscopes_die(&inner[0], &scopes);
	free(inner);
	for (*first = 0; *first < *n && left > 0; (*first)++)
		left -= dwarf_tag(&scopes[*first]) == DW_TAG_inlined_subroutine;
	if (*n > 0 && *first < *n)
		return scopes;
	free(scopes);
	return NULL;
}

/* Asks whether the type is an integer of 4 bytes or more, neither bool nor a character. */
static bool is_integer(Dwarf_Die *type, Dwarf_Word *size)
{
	Dwarf_Word encoding = 0;
	Dwarf_Attribute attr;
	Dwarf_Die real;

	if (!dwarf_real_type(type, &real) || dwarf_tag(&real) != DW_TAG_base_type ||
	    !dwarf_attr(&real, DW_AT_encoding, &attr) || dwarf_formudata(&attr, &encoding) != 0 ||
	    dwarf_aggregate_size(&real, size) != 0)
		return false;
	return (encoding == DW_ATE_signed || encoding == DW_ATE_unsigned) && *size >= 4;
}

static enum call_takes parameters_take(Dwarf_Die *function)
{
	Dwarf_Die declared = *function, child, type, to;
	bool has_address = false, has_length = false;
	Dwarf_Attribute attr;
	Dwarf_Word size = 0;

	if (dwarf_attr(function, DW_AT_abstract_origin, &attr))
		dwarf_formref_die(&attr, &declared);
	if (dwarf_child(&declared, &child) != 0)
		return CALL_TAKES_NO_LENGTH;
	do {
		bool is_number;

		if (dwarf_tag(&child) != DW_TAG_formal_parameter || dwarf_is_artificial(&child) ||
		    !dwarf_type_of(&child, &type))
			continue;
		is_number = is_integer(&type, &size);
		has_length |= has_address && is_number;
		has_address |=
			(is_number && size == 8) || dwarf_points_to(&type, &to) ||
			(dwarf_real_type(&type, &to) && dwarf_tag(&to) == DW_TAG_pointer_type);
	} while (dwarf_siblingof(&child, &child) == 0);
	return has_length ? CALL_TAKES_LENGTH : CALL_TAKES_NO_LENGTH;
}

enum call_takes call_takes(const struct code_place *f)
{
	enum call_takes takes = CALL_TAKES_UNKNOWN;
	int first, n;
	Dwarf_Die *scopes = scopes_of(f, &first, &n);

	for (int i = first; scopes && i < n; i++)
		if (dwarf_tag(&scopes[i]) == DW_TAG_inlined_subroutine ||
		    dwarf_tag(&scopes[i]) == DW_TAG_subprogram) {
			takes = parameters_take(&scopes[i]);
			break;
		}
	free(scopes);
	return takes;
}

/* ---- text ---- */

struct text {
	const char *at, *end;
};

static void skip_spaces(struct text *t)
{
	while (t->at < t->end && isspace((unsigned char)*t->at))
		t->at++;
}

static bool skip_text(struct text *t, const char *what)
{
	const size_t n = strlen(what);

	skip_spaces(t);
	if ((size_t)(t->end - t->at) < n || memcmp(t->at, what, n) != 0)
		return false;
	t->at += n;
	return true;
}

static struct text take_word(struct text *t)
{
	struct text word;

	skip_spaces(t);
	word.at = t->at;
	while (t->at < t->end && str_is_word_char(*t->at))
		t->at++;
	word.end = t->at;
	return word;
}

/* Takes a path such as "p->log.head" from the beginning of the text. */
static struct text take_path(struct text *t)
{
	struct text path, next;

	skip_spaces(t);
	path.at = t->at;
	path.end = take_word(t).end;
	for (next = *t; path.end > path.at && (skip_text(&next, "->") || skip_text(&next, "."));
	     next = *t) {
		const struct text word = take_word(&next);

		if (word.at == word.end)
			break;
		*t = next;
		path.end = word.end;
	}
	return path;
}

/* Finds "sizeof" in the line; NULL if it is not there exactly once. */
static const char *find_sizeof(const char *line, const char *end)
{
	const char *found = NULL;

	for (const char *p = line; p + 6 <= end; p++) {
		if (memcmp(p, "sizeof", 6) != 0 || (p > line && str_is_word_char(p[-1])) ||
		    (p + 6 < end && str_is_word_char(p[6])))
			continue;
		if (found)
			return NULL;
		found = p;
	}
	return found;
}

/* Finds the first argument, without casts, of the call whose first comma is just before `end`. */
static bool argument_before(const char *line, const char *end, struct text *out)
{
	const char *p = end;
	int depth = 0;

	while (p > line && isspace((unsigned char)p[-1]))
		p--;
	if (p == line || p[-1] != ',')
		return false;
	out->end = --p;
	for (; p > line; p--) {
		depth += p[-1] == ')' || p[-1] == ']';
		if (depth == 0 && (p[-1] == '(' || p[-1] == ','))
			break;
		depth -= p[-1] == '(' || p[-1] == '[';
	}
	if (p - 1 <= line || p[-1] != '(' || !str_is_word_char(p[-2]))
		return false;
	out->at = p;
	while (skip_text(out, "("))
		while (out->at < out->end && *out->at++ != ')')
			;
	while (out->end > out->at && isspace((unsigned char)out->end[-1]))
		out->end--;
	skip_spaces(out);
	return out->at < out->end;
}

static bool is_equal(struct text a, struct text b)
{
	return a.end - a.at == b.end - b.at && memcmp(a.at, b.at, (size_t)(a.end - a.at)) == 0;
}

struct length {
	struct text path;     /* what sizeof names */
	bool is_star, is_and; /* is_star: sizeof(*path); is_and: the argument is &path */
};

/* Reads a length of one sizeof about the argument before it, as in f(path, sizeof(*path)) or
 * f(&path, sizeof(path)). False if the line has no such call. */
static bool length_read(const char *line, size_t len, struct length *out)
{
	const char *end = line + len, *size = find_sizeof(line, end);
	struct text t = { size ? size + 6 : end, end }, argument;
	bool is_open;

	if (!size || !argument_before(line, size, &argument))
		return false;
	is_open = skip_text(&t, "(");
	out->is_star = skip_text(&t, "*");
	out->path = take_path(&t);
	if (out->path.at == out->path.end || (is_open && !skip_text(&t, ")")) ||
	    (!skip_text(&t, ")") && !skip_text(&t, ",")))
		return false;
	out->is_and = skip_text(&argument, "&");
	skip_spaces(&argument);
	return is_equal(argument, out->path) && !(out->is_star && out->is_and);
}

/* ---- ranges of memcpy() and flush calls ---- */

struct given {
	struct text first, last; /* arguments */
};

static void trim(struct text *t)
{
	skip_spaces(t);
	while (t->end > t->at && isspace((unsigned char)t->end[-1]))
		t->end--;
}

/* Asks whether the text has the same value wherever it is repeated: it must not call or assign
 * anything. */
static bool is_plain(struct text t)
{
	for (const char *p = t.at; p < t.end; p++)
		if (*p == '=' || *p == '(' || *p == '?' ||
		    (p > t.at && *p == p[-1] && (*p == '+' || *p == '-')))
			return false;
	return t.at < t.end;
}

/* Reads the arguments after a call's opening parenthesis; there must be two or more. */
static bool arguments_read(struct text t, struct given *out)
{
	const char *begin = t.at;
	int depth = 0;
	size_t n = 0;

	for (const char *p = t.at; p < t.end; p++) {
		if (depth == 0 && (*p == ',' || *p == ')')) {
			struct text one = { begin, p };

			trim(&one);
			out->first = n++ == 0 ? one : out->first;
			out->last = one;
			begin = p + 1;
			if (*p == ')')
				return n >= 2 && is_plain(out->first) && is_plain(out->last);
		}
		depth += *p == '(' || *p == '[';
		depth -= *p == ')' || *p == ']';
	}
	return false;
}

/* Finds the next call in the text and moves t behind its opening parenthesis. */
static bool next_call(struct text *t, struct text *name)
{
	while (t->at < t->end) {
		if (str_is_word_char(*t->at)) {
			*name = take_word(t);
			if (skip_text(t, "("))
				return true;
		} else {
			t->at++;
		}
	}
	return false;
}

static bool is_copy(struct text name)
{
	static const char *const names[] = { "memcpy", "memmove", "memset" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (is_equal(name, (struct text){ names[i], names[i] + strlen(names[i]) }))
			return true;
	return false;
}

bool call_is_same_range(const char *store, size_t store_len, const char *flush, size_t flush_len)
{
	struct text t = { store, store + store_len }, name;
	struct given stored, given;
	bool is_found = false;

	while (!is_found && next_call(&t, &name))
		is_found = is_copy(name) && arguments_read(t, &stored);
	if (!is_found)
		return false;
	t = (struct text){ flush, flush + flush_len };
	while (next_call(&t, &name))
		if (!is_copy(name) && arguments_read(t, &given) &&
		    is_equal(given.first, stored.first) && is_equal(given.last, stored.last))
			return true;
	return false;
}

/* ---- types ---- */

static bool find_member(Dwarf_Die *type, const char *name, Dwarf_Die *out)
{
	Dwarf_Die real, child;

	if (!dwarf_real_type(type, &real) || dwarf_child(&real, &child) != 0)
		return false;
	do {
		const char *member = dwarf_diename(&child);

		if (dwarf_tag(&child) == DW_TAG_member && member && strcmp(member, name) == 0)
			return dwarf_type_of(&child, out);
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

static bool word_copy(struct text word, char *out, size_t size)
{
	const size_t n = (size_t)(word.end - word.at);

	if (n == 0 || n >= size)
		return false;
	memcpy(out, word.at, n);
	out[n] = '\0';
	return true;
}

static bool type_of_path(const struct code_place *f, struct text path, Dwarf_Die *out)
{
	int first, n;
	Dwarf_Die *scopes = scopes_of(f, &first, &n), variable, object;
	char name[128];
	bool is_known;

	is_known =
		scopes && word_copy(take_word(&path), name, sizeof name) &&
		dwarf_getscopevar(scopes + first, n - first, name, 0, NULL, 0, 0, &variable) >= 0 &&
		dwarf_type_of(&variable, out);
	free(scopes);
	while (is_known && path.at < path.end) {
		const bool is_arrow = skip_text(&path, "->");

		is_known = is_arrow ? dwarf_points_to(out, &object) : skip_text(&path, ".");
		if (is_known && !is_arrow &&
		    !dwarf_points_to(out, &object)) /* a reference is followed by a dot, too */
			object = *out;
		is_known = is_known && word_copy(take_word(&path), name, sizeof name) &&
			   find_member(&object, name, out);
		skip_spaces(&path);
	}
	return is_known;
}

static uint64_t size_of(Dwarf_Die *type)
{
	Dwarf_Word size = 0;

	return dwarf_aggregate_size(type, &size) == 0 ? size : 0;
}

/* Asks whether the type is a reference: sizeof of a reference is the size of what it refers to. */
static bool is_reference(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_reference_type ||
	       dwarf_tag(type) == DW_TAG_rvalue_reference_type;
}

enum call_given call_given(const struct code_place *f, const char *line, size_t len,
			   uint64_t *bytes)
{
	Dwarf_Die type, real, to;
	bool is_pointer, is_array;
	struct length l;

	*bytes = 0;
	if (!length_read(line, len, &l) || !type_of_path(f, l.path, &type) ||
	    !dwarf_real_type(&type, &real))
		return CALL_GIVEN_UNKNOWN;
	if (is_reference(&real) && (!dwarf_points_to(&real, &to) || !dwarf_real_type(&to, &real)))
		return CALL_GIVEN_UNKNOWN;
	is_pointer = dwarf_tag(&real) == DW_TAG_pointer_type;
	is_array = dwarf_tag(&real) == DW_TAG_array_type;
	if (is_pointer && !l.is_and) {
		*bytes = dwarf_points_to(&real, &to) ? size_of(&to) : 0;
		if (!l.is_star)
			return CALL_GIVEN_POINTER;
	} else if (l.is_and || (is_array && !l.is_star)) {
		*bytes = size_of(&real);
	}
	return *bytes ? CALL_GIVEN_OBJECT : CALL_GIVEN_UNKNOWN;
}
