/* Reads C text: blanks, lines, arguments, identifiers. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "repair/edit/internal.h"

const char *text_copy(struct codebase *code, const char *from, size_t len_bytes)
{
	return arena_string(&code->arena, from, len_bytes);
}

const char *text_format(struct codebase *code, const char *fmt, ...)
{
	const char *copy;
	char *text;
	va_list ap;

	va_start(ap, fmt);
	if (vasprintf(&text, fmt, ap) < 0)
		alloc_die();
	va_end(ap);
	copy = text_copy(code, text, strlen(text));
	free(text);
	return copy;
}

uint32_t text_skip_blanks(const struct file *f, uint32_t at)
{
	while (at < f->len_bytes) {
		const char *p = f->text + at, *stop;

		if (isspace((unsigned char)*p)) {
			at++;
		} else if (p[0] == '/' && (p[1] == '*' || p[1] == '/')) {
			stop = strstr(p + 2, p[1] == '*' ? "*/" : "\n");
			at = stop ? (uint32_t)(stop - f->text) + (p[1] == '*' ? 2 : 1)
				  : f->len_bytes;
		} else {
			break;
		}
	}
	return at;
}

uint32_t text_semicolon(const struct file *f, uint32_t at)
{
	at = text_skip_blanks(f, at);
	return at < f->len_bytes && f->text[at] == ';' ? at + 1 : 0;
}

uint32_t text_line_begin(const struct file *f, uint32_t at)
{
	while (at > 0 && f->text[at - 1] != '\n')
		at--;
	return at;
}

uint32_t text_line_end(const struct file *f, uint32_t at)
{
	while (at < f->len_bytes && f->text[at] != '\n')
		at++;
	return at;
}

bool text_begins_line(const struct file *f, uint32_t at)
{
	for (uint32_t i = text_line_begin(f, at); i < at; i++)
		if (f->text[i] != ' ' && f->text[i] != '\t')
			return false;
	return true;
}

bool text_has_directive(const struct file *f, uint32_t from, uint32_t to)
{
	for (uint32_t at = text_line_end(f, from) + 1; at < to; at = text_line_end(f, at) + 1) {
		while (at < to && (f->text[at] == ' ' || f->text[at] == '\t'))
			at++;
		if (f->text[at] == '#')
			return true;
	}
	return false;
}

const char *text_indent(struct codebase *code, const struct file *f, uint32_t at)
{
	uint32_t begin = text_line_begin(f, at);

	return text_copy(code, f->text + begin, strspn(f->text + begin, " \t"));
}

const char *text_of(struct codebase *code, const struct file *f, const struct source_node *n)
{
	char *copy = (char *)text_copy(code, f->text + n->text_begin, n->text_end - n->text_begin),
	     *to = copy;

	if (!strchr(copy, '\n') || strpbrk(copy, "\"'\\#") || strstr(copy, "//") ||
	    strstr(copy, "/*"))
		return copy;
	for (const char *p = copy; *p;) {
		size_t blanks = strspn(p, " \t\r\n");
		bool is_needed = blanks && to > copy && !strchr("([", to[-1]) &&
				 !strchr(")].", p[blanks]) && strncmp(p + blanks, "->", 2) != 0;

		if (!memchr(p, '\n', blanks))
			while (blanks && blanks--)
				*to++ = *p++;
		else if (is_needed)
			*to++ = ' ';
		p += blanks;
		if (*p)
			*to++ = *p++;
	}
	*to = 0;
	return copy;
}

bool text_is_identifier(const char *s)
{
	size_t n = 0;

	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return n > 0 && !s[n] && !isdigit((unsigned char)s[0]);
}

/* Returns the place behind the bracket that closes the one at s; NULL: it is not closed. */
static const char *skip_bracket(const char *s)
{
	int depth = 0;

	for (; *s; s++) {
		if (*s == '"' || *s == '\'') {
			const char quote = *s;

			for (s++; *s && *s != quote; s++)
				if (*s == '\\' && s[1])
					s++;
			if (!*s)
				return NULL;
		} else if (strchr("([{", *s)) {
			depth++;
		} else if (strchr(")]}", *s) && --depth == 0) {
			return s + 1;
		}
	}
	return NULL;
}

bool text_is_postfix(const char *s)
{
	if (*s == '(') {
		s = skip_bracket(s);
		if (!s)
			return false;
		if (isalnum((unsigned char)*s) || *s == '_' || *s == ' ' || *s == '&' || *s == '*')
			return false; /* a cast */
	} else if (!isalpha((unsigned char)*s) && *s != '_') {
		return false;
	}
	while (*s) {
		if (isalnum((unsigned char)*s) || *s == '_' || *s == '.')
			s++;
		else if (s[0] == '-' && s[1] == '>')
			s += 2;
		else if (*s == '[' || *s == '(')
			s = skip_bracket(s);
		else
			return false;
		if (!s)
			return false;
	}
	return true;
}

/* Adds parentheses, unless the text is a number or a postfix expression. */
const char *text_wrapped(struct codebase *code, const char *text)
{
	return text_is_postfix(text) || text[strspn(text, "0123456789")] == 0
		       ? text
		       : text_format(code, "(%s)", text);
}

static const char *trimmed(struct codebase *code, const char *from, const char *end)
{
	while (from < end && isspace((unsigned char)*from))
		from++;
	while (end > from && isspace((unsigned char)end[-1]))
		end--;
	return text_copy(code, from, (size_t)(end - from));
}

const char **text_arguments(struct codebase *code, const struct file *f, uint32_t at, uint32_t end)
{
	const char *open = memchr(f->text + at, '(', end - at), *close, *from;
	VEC(const char *) list = { 0 };
	const char **copy;

	close = open ? skip_bracket(open) : NULL;
	if (!close)
		return NULL;
	from = open + 1;
	for (const char *p = from; p < close; p++) {
		if (p == close - 1 || *p == ',') {
			*vec_add(&list) = trimmed(code, from, p);
			from = p + 1;
		} else if (strchr("([{", *p)) {
			p = skip_bracket(p);
			if (!p)
				break;
			p--;
		} else if (*p == '"' || *p == '\'') {
			const char quote = *p;

			for (p++; p < close && *p != quote; p++)
				if (*p == '\\')
					p++;
		}
	}
	copy = arena_alloc(&code->arena, (list.n + 1) * sizeof *copy);
	memcpy(copy, list.at, list.n * sizeof *copy);
	copy[list.n] = NULL;
	vec_release(&list);
	return copy;
}

/* Asks whether the identifier is behind . or ->, so that it names a member. */
static bool is_member(const char *text, const char *p)
{
	while (p > text && isspace((unsigned char)p[-1]))
		p--;
	return p > text && (p[-1] == '.' || (p - text > 1 && p[-1] == '>' && p[-2] == '-'));
}

const char *text_substitute(struct codebase *code, const char *text, bool in_members,
			    const char *const *names, const char *const *values, size_t n)
{
	char *out = NULL;
	const char *copy;
	size_t room = 0;
	FILE *f = open_memstream(&out, &room);

	for (const char *p = text; *p;) {
		size_t len = 0, i = n;

		while (isalnum((unsigned char)p[len]) || p[len] == '_')
			len++;
		if (len > 0 && !isdigit((unsigned char)*p) && (in_members || !is_member(text, p)))
			for (i = 0; i < n; i++)
				if (strlen(names[i]) == len && memcmp(names[i], p, len) == 0)
					break;
		if (len > 0 && i < n)
			fputs(values[i], f);
		else
			fwrite(p, 1, len ? len : 1, f);
		p += len ? len : 1;
	}
	fclose(f);
	copy = text_copy(code, out, strlen(out));
	free(out);
	return copy;
}

static bool is_word(const char *text, const char *at, size_t len)
{
	const char before = at > text ? at[-1] : ' ', after = at[len];

	return !(before == '_' || (before >= '0' && before <= '9') ||
		 (before >= 'A' && before <= 'Z') || (before >= 'a' && before <= 'z')) &&
	       !(after == '_' || (after >= '0' && after <= '9') || (after >= 'A' && after <= 'Z') ||
		 (after >= 'a' && after <= 'z'));
}

bool text_has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = strstr(text, word); at; at = strstr(at + len, word))
		if (is_word(text, at, len))
			return true;
	return false;
}
