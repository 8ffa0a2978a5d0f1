/* Quoted strings with escapes, \n \t \\ \" and \x and two digits, as of a client's protocol. The bug: a string with an escaped byte above 127. */
#include "parser.h"

struct record {
	uint64_t len;
	uint64_t nbinary __attribute__((aligned(64)));
	char text[64] __attribute__((aligned(64)));
};

static int digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* The character of an escape; -1: there is no such thing. */
static int escape_read(const char **at)
{
	const char *s = *at;
	int high, low;

	*at += 1;
	switch (s[0]) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	case '\\':
	case '"':
		return s[0];
	case 'x':
		high = digit_of(s[1]);
		low = high < 0 ? -1 : digit_of(s[2]);
		*at += 2;
		return low < 0 ? -1 : high << 4 | low;
	}
	return -1;
}

int main(int argc, char **argv)
{
	struct record *record = pool_open(argc == 2 ? argv[1] : NULL, sizeof *record);
	char line[21] = "", text[32];
	const char *at = line;
	unsigned nbinary = 0;
	size_t len = 0;

	if (read(0, line, sizeof line - 1) <= 0 || *at++ != '"')
		return 1;
	while (*at != '"') {
		int c = (unsigned char)*at++;

		if (c == '\\')
			c = escape_read(&at);
		if (c <= 0)
			return 1;
		nbinary += c > 127;
		text[len++] = (char)c;
	}
	memcpy(record->text, text, len);
	persist(record->text, sizeof record->text);
	if (nbinary) {
		record->nbinary = nbinary; /* BUG: missing-flush */
		persist_if_correct(&record->nbinary, 8);
	}
	record->len = len;
	persist(&record->len, 8);
	return 0;
}
