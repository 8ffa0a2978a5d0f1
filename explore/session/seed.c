/* Reads seeds: files of bytes, and templates of fixed bytes and holes. */
#include "explore/session/seed.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int seed_read(struct seed *s, const char *path, struct error *err)
{
	FILE *f = fopen(path, "rb");
	int c;

	*s = (struct seed){ 0 };
	if (!f)
		return error_set(err, "cannot open %s: %s", path, strerror(errno));
	while ((c = getc(f)) != EOF && s->bytes.n <= 1u << 20)
		*vec_add(&s->bytes) = (uint8_t)c;
	fclose(f);
	if (s->bytes.n == 0 || s->bytes.n > 1u << 20) {
		seed_release(s);
		return error_set(err, "%s does not hold 1 to 1048576 bytes", path);
	}
	return 0;
}

void seed_release(struct seed *s)
{
	vec_release(&s->bytes);
	vec_release(&s->is_fixed);
}

static void byte_add(struct seed *s, uint8_t byte, bool is_fixed)
{
	*vec_add(&s->bytes) = byte;
	*vec_add(&s->is_fixed) = is_fixed;
}

static int hex_digit(char c)
{
	return isdigit((unsigned char)c)    ? c - '0'
	       : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
					    : -1;
}

/* Parses an escape after the backslash. NULL if it is unknown. */
static const char *escape_parse(const char *p, uint8_t *byte)
{
	static const char names[] = "nrt0\\\"", values[] = "\n\r\t\0\\\"";
	const char *found = *p ? strchr(names, *p) : NULL;

	if (*p == 'x' && hex_digit(p[1]) >= 0 && hex_digit(p[2]) >= 0) {
		*byte = (uint8_t)(hex_digit(p[1]) << 4 | hex_digit(p[2]));
		return p + 3;
	}
	if (!found)
		return NULL;
	*byte = (uint8_t)values[found - names];
	return p + 1;
}

static const char *string_parse(struct seed *s, const char *p)
{
	for (p++; *p && *p != '"';) {
		uint8_t byte = (uint8_t)*p++;

		if (byte == '\\' && !(p = escape_parse(p, &byte)))
			return NULL;
		byte_add(s, byte, true);
	}
	return *p == '"' ? p + 1 : NULL;
}

static const char *hole_parse(struct seed *s, const char *p)
{
	char *end = (char *)(uintptr_t)(p + 1);
	unsigned long n = isdigit((unsigned char)p[1]) ? strtoul(p + 1, &end, 10) : 1;

	for (unsigned long i = 0; i < n && i < 1u << 20; i++)
		byte_add(s, 0, false);
	return end;
}

static int line_parse(struct seed *s, const char *line)
{
	const char *p = line;

	while (p && *p && *p != '#') {
		if (isspace((unsigned char)*p)) {
			p++;
		} else if (*p == '"') {
			p = string_parse(s, p);
		} else if (*p == '?') {
			p = hole_parse(s, p);
		} else if (hex_digit(p[0]) >= 0 && hex_digit(p[1]) >= 0) {
			byte_add(s, (uint8_t)(hex_digit(p[0]) << 4 | hex_digit(p[1])), true);
			p += 2;
		} else {
			p = NULL;
		}
	}
	return p ? 0 : -1;
}

int seed_read_template(struct seed *s, const char *path, struct error *err)
{
	FILE *f = fopen(path, "r");
	char line[4096];
	int result = 0, number = 0;

	*s = (struct seed){ 0 };
	if (!f)
		return error_set(err, "cannot open %s: %s", path, strerror(errno));
	while (result == 0 && fgets(line, sizeof line, f)) {
		number++;
		if (line_parse(s, line) < 0)
			result = error_set(
				err,
				"%s:%d: a template holds \"strings\", hexadecimal bytes such as 0a, and holes ? or ?8",
				path, number);
	}
	fclose(f);
	if (result == 0 && s->bytes.n == 0)
		result = error_set(err, "%s holds no bytes", path);
	if (result < 0)
		seed_release(s);
	return result;
}
