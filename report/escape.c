/* Makes text from programs, debug info and source files harmless: it cannot move the cursor, break
 * a line, reverse the direction of writing, or end an HTML element. */
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "report/internal.h"

/* Decodes the UTF-8 sequence at `text` and returns its length. 0: it is invalid (cut off, overlong,
 * a surrogate, or too large). */
static size_t utf8_decode(const char *text, size_t n, uint32_t *code)
{
	static const uint32_t smallest[] = { 0, 0, 0x80, 0x800, 0x10000 };
	const unsigned char *p = (const unsigned char *)text;
	size_t len, i;

	if (n == 0)
		return 0;
	*code = p[0];
	if (p[0] < 0x80)
		return 1;
	len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
	if (p[0] < 0xc2 || p[0] > 0xf4 || len > n)
		return 0;
	*code = p[0] & (0xffu >> (len + 1));
	for (i = 1; i < len; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (p[i] & 0x3f);
	}
	return *code < smallest[len] || (*code >= 0xd800 && *code < 0xe000) || *code > 0x10ffff
		       ? 0
		       : len;
}

size_t escape_utf8_len(const char *p, size_t n)
{
	uint32_t code;

	return utf8_decode(p, n, &code);
}

char *escape_utf8(const char *s)
{
	size_t n = strlen(s), len;
	char *clean = xmalloc(3 * n + 1), *out = clean;

	for (; n; s += len, n -= len) {
		len = escape_utf8_len(s, n);
		if (len) {
			out = mempcpy(out, s, len);
		} else {
			out = mempcpy(out, "\xef\xbf\xbd", 3);
			len = 1;
		}
	}
	*out = '\0';
	return clean;
}

/* Is it a control character, a line separator, or a character that changes the direction of
 * text? */
static bool is_harmful(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || (code >= 0x200e && code <= 0x200f) ||
	       (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069) ||
	       code == 0xfeff;
}

size_t escape_text(FILE *f, const char *s, size_t n)
{
	size_t len, i, columns = 0;
	uint32_t code = 0;

	for (; n; s += len, n -= len) {
		len = utf8_decode(s, n, &code);
		if (len && (!is_harmful(code) || code == '\t')) {
			if (f)
				fwrite(s, 1, len, f);
			columns++;
			continue;
		}
		len = len ? len : 1;
		for (i = 0; f && i < len; i++)
			fprintf(f, "\\x%02x", (unsigned char)s[i]);
		columns += 4 * len;
	}
	return columns;
}

void escape_printf(FILE *f, const char *fmt, ...)
{
	char *text;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (len < 0)
		alloc_die();
	escape_text(f, text, (size_t)len);
	free(text);
}

void escape_lines(FILE *f, const char *s, size_t n, const char *between)
{
	while (n) {
		const char *end = memchr(s, '\n', n);
		const size_t len = end ? (size_t)(end - s) : n;

		escape_text(f, s, len);
		if (end)
			fputc('\n', f);
		if (end && len + 1 < n)
			fputs(between, f);
		s += len + (end != NULL);
		n -= len + (end != NULL);
	}
}

static const char *html_entity(char c)
{
	switch (c) {
	case '&': return "&amp;";
	case '<': return "&lt;";
	case '>': return "&gt;";
	case '"': return "&quot;";
	case '\'': return "&#39;";
	}
	return NULL;
}

void escape_html(FILE *f, const char *s, size_t n)
{
	size_t len;

	for (; n; s += len, n -= len) {
		const char *entity = html_entity(*s);

		len = escape_utf8_len(s, n);
		len = len ? len : 1;
		if (entity)
			fputs(entity, f);
		else
			escape_text(f, s, len);
	}
}
