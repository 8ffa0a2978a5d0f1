/* Changes the text of a macro's definition: finds the statements in it that store, and adds others
 * beside them in its style. Only what is in a block of the macro, such as do { … } while (0), is a
 * statement. */
#include <ctype.h>
#include <string.h>

#include "repair/edit/internal.h"

enum { TAB = 8, DEPTH_MAX = 32 };

const struct source_macro *macro_defined(const struct source_unit *u, const char *name)
{
	const struct source_macro *found = NULL;

	for (size_t i = 0; i < u->nmacros; i++)
		if (strcmp(u->macros[i].name, name) == 0)
			found = &u->macros[i];
	return found && found->is_function && !found->is_system ? found : NULL;
}

const struct source_use *macro_use_at(const struct source_unit *u, const struct file *f,
				      uint32_t line, uint32_t column)
{
	uint32_t place = file_offset(f, line, column);
	const struct source_use *found = NULL;

	for (size_t i = 0; place && i < u->nuses; i++) {
		const struct source_use *use = &u->uses[i];

		if (use->begin <= place && place < use->end && strcmp(use->file, f->path) == 0 &&
		    (!found || use->end - use->begin > found->end - found->begin))
			found = use;
	}
	return found;
}

/* ---- statements that store ---- */

static bool is_blank(const struct file *f, uint32_t at)
{
	return isspace((unsigned char)f->text[at]) ||
	       (f->text[at] == '\\' && strchr("\r\n", f->text[at + 1]));
}

/* Returns the text in one line, without backslashes. */
static const char *in_one_line(struct codebase *code, const struct file *f, uint32_t from,
			       uint32_t to)
{
	char *out = arena_alloc(&code->arena, to - from + 1), *end = out;

	while (from < to && is_blank(f, from))
		from++;
	while (to > from && is_blank(f, to - 1))
		to--;
	for (uint32_t i = from; i < to; i++) {
		if (!is_blank(f, i))
			*end++ = f->text[i];
		else if (end > out && end[-1] != ' ')
			*end++ = ' ';
	}
	*end = 0;
	return out;
}

/* Asks whether a statement can stand beside the assignment to this lvalue. "if (c) x" and "int x"
 * do not allow that. */
static bool is_plain(const char *lvalue)
{
	static const char *const words[] = { "if",     "for",  "while", "switch",
					     "return", "else", "do",    "case" };
	size_t word = 0, rest;

	while (isalnum((unsigned char)lvalue[word]) || lvalue[word] == '_')
		word++;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (word == strlen(words[i]) && strncmp(lvalue, words[i], word) == 0)
			return false;
	rest = word + strspn(lvalue + word, " ");
	return lvalue[0] &&
	       (word == 0 || rest == word ||
		!(isalnum((unsigned char)lvalue[rest]) || strchr("_*(", lvalue[rest])));
}

/* Returns the length of the assignment operator at this offset; 0: there is none. */
static size_t operator_at(const struct file *f, uint32_t at)
{
	const char *p = f->text + at;

	if (strncmp(p, "++", 2) == 0 || strncmp(p, "--", 2) == 0)
		return 2;
	return p[0] == '=' && p[1] != '=' && !strchr("=!<>", p[-1])                  ? 1
	       : p[0] == '=' && p[1] != '=' && strchr("<>", p[-1]) && p[-2] == p[-1] ? 1
										     : 0;
}

/* Returns the offset of the quote that ends the string or character. */
static uint32_t skip_string(const struct file *f, uint32_t at)
{
	char quote = f->text[at];

	for (at++; at < f->len_bytes && f->text[at] != quote && f->text[at] != '\n'; at++)
		at += f->text[at] == '\\';
	return at;
}

static struct macro_store store_of(struct codebase *code, const struct file *f, uint32_t begin,
				   uint32_t op, size_t len)
{
	uint32_t to = op, end = op;
	struct macro_store s;

	while (is_blank(f, begin))
		begin++;
	while (len == 1 && to > begin && strchr("+-*/%&|^<>", f->text[to - 1]))
		to--;
	while (f->text[end] != ';')
		end++;
	s = (struct macro_store){ .begin = begin,
				  .end = end + 1,
				  .lvalue = begin == op ? in_one_line(code, f, op + 2, end)
							: in_one_line(code, f, begin, to) };
	s.is_plain = is_plain(s.lvalue);
	return s;
}

size_t macro_stores(struct codebase *code, const struct source_macro *m, const struct file *f,
		    struct macro_store *out, size_t max)
{
	const char *close = strchr(m->text, ')');
	uint32_t at = m->begin + (uint32_t)(close ? close + 1 - m->text : 0),
		 end = m->begin + (uint32_t)strlen(m->text), begin = 0;
	unsigned depth = 0, parentheses[DEPTH_MAX] = { 0 };
	size_t n = 0;
	bool is_seen = false;

	if (end > f->len_bytes || memcmp(f->text + m->begin, m->text, strlen(m->text)) != 0)
		return 0;
	for (; at < end && n < max; at++) {
		char c = f->text[at];
		size_t len = operator_at(f, at);

		if (c == '"' || c == '\'')
			at = skip_string(f, at);
		else if (c == '{' && depth + 1 < DEPTH_MAX)
			parentheses[++depth] = 0;
		else if (c == '}' && depth > 0)
			depth--;
		else if (c == '(' || c == ')')
			parentheses[depth] += c == '(' ? 1 : -1u;
		if (strchr(";{}", c)) {
			begin = at + 1;
			is_seen = false;
		}
		if (len > 0 && depth > 0 && parentheses[depth] == 0 && !is_seen) {
			out[n++] = store_of(code, f, begin, at, len);
			is_seen = true;
		}
		at += len == 2;
	}
	return n;
}

/* ---- new statements ---- */

static size_t width_of(const char *text, size_t len)
{
	size_t width = 0;

	for (size_t i = 0; i < len; i++)
		width = text[i] == '\t' ? width + TAB - width % TAB : width + 1;
	return width;
}

/* Returns a continued line, with its backslash in the same column as in the line at `like`. */
static const char *line_like(struct codebase *code, const struct file *f, uint32_t like,
			     const char *text)
{
	uint32_t begin = text_line_begin(f, like), back = text_line_end(f, like) - 1;
	const char *line = text_format(code, "%s%s", text_indent(code, f, like), text);
	size_t width = width_of(f->text + begin, back - begin), own = width_of(line, strlen(line));
	bool is_tab = f->text[back - 1] == '\t';

	if (own >= width)
		return text_format(code, "%s \\\n", line);
	if (!is_tab)
		return text_format(code, "%s%*s\\\n", line, (int)(width - own), "");
	while (own < width) {
		line = text_format(code, "%s\t", line);
		own += TAB - own % TAB;
	}
	return text_format(code, "%s\\\n", line);
}

static bool goes_on(const struct file *f, uint32_t at)
{
	uint32_t end = text_line_end(f, at);

	return end > 0 && f->text[end - 1] == '\\';
}

bool macro_insert(struct codebase *code, struct file *f, const struct macro_store *s,
		  const char *text, bool is_behind)
{
	if (!s->is_plain)
		return false;
	if (!text_begins_line(f, s->begin))
		file_edit(f, is_behind ? s->end : s->begin, 0,
			  text_format(code, is_behind ? " %s" : "%s ", text));
	else if (!goes_on(f, s->begin) || !goes_on(f, s->end))
		return false;
	else
		file_edit(f,
			  is_behind ? text_line_end(f, s->end) + 1 : text_line_begin(f, s->begin),
			  0, line_like(code, f, s->begin, text));
	return true;
}
