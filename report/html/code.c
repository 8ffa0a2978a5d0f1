/* Colours a line of C or C++: comments, strings, numbers, keywords, the preprocessor. It reads one
 * line at a time; of earlier lines it only knows whether a comment is still open. */
#include <ctype.h>
#include <string.h>

#include "report/html/html.h"

static const char *const words[] = {
	"alignas",  "auto",     "bool",      "break",     "case",    "catch",     "char",
	"class",    "const",    "constexpr", "continue",  "default", "delete",    "do",
	"double",   "else",     "enum",      "extern",    "false",   "float",     "for",
	"goto",     "if",       "inline",    "int",       "long",    "namespace", "new",
	"nullptr",  "NULL",     "operator",  "private",   "public",  "register",  "restrict",
	"return",   "short",    "signed",    "size_t",    "sizeof",  "static",    "struct",
	"switch",   "template", "this",      "true",      "try",     "typedef",   "uint16_t",
	"uint32_t", "uint64_t", "uint8_t",   "uintptr_t", "union",   "unsigned",  "using",
	"virtual",  "void",     "volatile",  "while",     "int32_t", "int64_t",
};

static bool is_word(const char *s, size_t n)
{
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (strlen(words[i]) == n && memcmp(words[i], s, n) == 0)
			return true;
	return false;
}

static size_t comment_len(const char *s, size_t n, size_t from, bool *is_comment)
{
	for (size_t i = from; i + 1 < n; i++)
		if (s[i] == '*' && s[i + 1] == '/') {
			*is_comment = false;
			return i + 2;
		}
	*is_comment = true;
	return n;
}

static size_t quoted_len(const char *s, size_t n)
{
	size_t i = 1;

	while (i < n && s[i] != s[0])
		i += s[i] == '\\' ? 2 : 1;
	return i + 1 < n ? i + 1 : n;
}

static size_t name_len(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && (isalnum((unsigned char)s[i]) || s[i] == '_' || s[i] == '.'))
		i++;
	return i;
}

/* Returns the length of the token at s, and its CSS class (NULL: none). */
static size_t piece(const char *s, size_t n, bool is_first, const char **class, bool *is_comment)
{
	size_t i = 0;

	*class = NULL;
	if (n > 1 && s[0] == '/' && s[1] == '/')
		return *class = "c", n;
	if (n > 1 && s[0] == '/' && s[1] == '*')
		return *class = "c", comment_len(s, n, 2, is_comment);
	if (*s == '"' || *s == '\'')
		return *class = "s", quoted_len(s, n);
	if (*s == '#' && is_first) {
		for (i = 1; i < n && (s[i] == ' ' || isalpha((unsigned char)s[i])); i++)
			;
		return *class = "p", i;
	}
	if (isdigit((unsigned char)*s))
		return *class = "n", name_len(s, n);
	if (isalpha((unsigned char)*s) || *s == '_') {
		while (i < n && (isalnum((unsigned char)s[i]) || s[i] == '_'))
			i++;
		*class = is_word(s, i) ? "k" : NULL;
		return i;
	}
	for (i = 1; i < n && !isalnum((unsigned char)s[i]) && !strchr("/\"'#_", s[i]); i++)
		;
	return i;
}

void put_code(const struct page *p, const char *line, size_t n, bool *is_comment)
{
	size_t len, at = 0;
	const char *class = "c";

	while (at < n) {
		len = at == 0 && *is_comment ? comment_len(line, n, 0, is_comment)
					     : piece(line + at, n - at, strspn(line, " \t") == at,
						     &class, is_comment);
		if (class)
			fprintf(p->f, "<i class=\"%s\">", class);
		escape_html(p->f, line + at, len);
		if (class)
			fputs("</i>", p->f);
		at += len;
		class = NULL;
	}
}
