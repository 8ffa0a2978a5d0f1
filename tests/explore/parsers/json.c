/* Settings in a subset of JSON, one flat object, by recursive descent. The bug: a "ttl" above nine. */
#include <ctype.h>

#include "parser.h"

struct settings {
	uint64_t size;
	uint64_t ttl __attribute__((aligned(64)));
	uint64_t is_safe __attribute__((aligned(64)));
	char name[32] __attribute__((aligned(64)));
};

static struct settings *settings;
static const char *at;

static void fail(const char *why)
{
	fprintf(stderr, "%s\n", why);
	exit(1);
}

static void skip_space(void)
{
	while (isspace((unsigned char)*at))
		at++;
}

static void expect(char c)
{
	skip_space();
	if (*at != c)
		fail("syntax");
	at++;
}

static void parse_string(char *to, size_t room)
{
	size_t n = 0;

	expect('"');
	for (; *at != '"'; at++) {
		if (*at == '\0' || n + 1 == room)
			fail("string");
		to[n++] = *at;
	}
	to[n] = '\0';
	at++;
}

static unsigned long parse_number(void)
{
	unsigned long value = 0;

	skip_space();
	if (!isdigit((unsigned char)*at))
		fail("number");
	for (; isdigit((unsigned char)*at); at++)
		value = value * 10 + (unsigned long)(*at - '0');
	return value;
}

static void parse_value(const char *key)
{
	if (strcmp(key, "size") == 0) {
		settings->size = parse_number();
		persist(&settings->size, 8);
	} else if (strcmp(key, "ttl") == 0) {
		unsigned long ttl = parse_number();

		if (ttl > 9) {
			settings->ttl = ttl * 60; /* BUG: missing-flush */
			persist_if_correct(&settings->ttl, 8);
		} else {
			settings->ttl = ttl;
			persist(&settings->ttl, 8);
		}
	} else if (strcmp(key, "name") == 0) {
		char name[16];

		parse_string(name, sizeof name);
		strcpy(settings->name, name);
		persist(settings->name, sizeof settings->name);
	} else if (strcmp(key, "safe") == 0) {
		skip_space();
		if (strncmp(at, "true", 4) != 0)
			fail("true?");
		at += 4;
		settings->is_safe = 1;
		persist(&settings->is_safe, 8);
	} else
		fail("key");
}

int main(int argc, char **argv)
{
	char text[25] = "", key[8];
	FILE *in = argc == 3 ? fopen(argv[2], "rb") : NULL;

	if (!in)
		return 2;
	if (fread(text, 1, sizeof text - 1, in) == 0)
		return 1;
	fclose(in);
	settings = pool_open(argv[1], sizeof *settings);
	at = text;
	expect('{');
	do {
		parse_string(key, sizeof key);
		expect(':');
		parse_value(key);
		skip_space();
	} while (*at == ',' && at++);
	expect('}');
	return 0;
}
