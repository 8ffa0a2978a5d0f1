/* More programs with a bug behind conditions on their input, written after the engine was: fresh CASE POOL FILE. What each asks for is made from a number that is
 * mixed at start (or given: FRESH_NUMBER), so that nobody who worked on the engine knew the answer. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "pm.h"

#define POOL_BYTES 16384

struct line {
	_Alignas(64) uint64_t value;
};

static struct line *pool;
static char in[256];
static size_t in_len;
static uint64_t secret;

static void save(unsigned i, uint64_t value)
{
	pool[i].value = value;
	persist(&pool[i]);
}

static uint64_t next(void)
{
	secret ^= secret << 13;
	secret ^= secret >> 7;
	secret ^= secret << 17;
	return secret >> 20;
}

/* ---- a stack machine: handlers in a table of functions ---- */

static uint64_t stack[8];
static unsigned top;

static void op_push(unsigned char k)
{
	if (top < 8)
		stack[top++] = k;
}

static void op_add(unsigned char k)
{
	if (top > 1) {
		stack[top - 2] += stack[top - 1] + k;
		top--;
	}
}

static void op_multiply(unsigned char k)
{
	if (top)
		stack[top - 1] *= k;
}

static void op_print(unsigned char k)
{
	printf("%u: %llu\n", k, top ? (unsigned long long)stack[top - 1] : 0);
}

static void op_save(unsigned char k)
{
	if (top && k < 16)
		save(k, stack[top - 1]);
}

static void op_commit(unsigned char k)
{
	if (top && stack[top - 1] == 1000 + secret % 30000 && k == 1) {
		REACHED(), pool[20].value = stack[top - 1]; /* BUG: missing-fence */
		flush_line(&pool[20]);
	}
}

static void machine(void)
{
	static void (*const ops[])(unsigned char) = { op_print, op_push, op_add, op_multiply, op_print, op_print, op_save, op_print, op_commit };

	for (size_t i = 0; i + 1 < in_len && i < 12; i += 2) {
		unsigned char op = (unsigned char)in[i];

		if (op >= sizeof ops / sizeof ops[0])
			return;
		ops[op]((unsigned char)in[i + 1]);
	}
}

/* ---- a configuration: [section], then name = value ---- */

static char *trim(char *s)
{
	char *end;

	while (*s == ' ')
		s++;
	end = s + strlen(s);
	while (end > s && end[-1] == ' ')
		*--end = '\0';
	return s;
}

static void option(const char *section, const char *name, const char *value)
{
	static int is_enabled;

	if (strcmp(section, "log") == 0) {
		if (strcmp(name, "level") == 0)
			printf("level %d\n", atoi(value));
	} else if (strcmp(section, "storage") == 0) {
		if (strcmp(name, "enable") == 0)
			is_enabled = strcasecmp(value, "yes") == 0;
		else if (strcmp(name, "size") == 0 && is_enabled && strtoul(value, NULL, 0) == 100 + secret % 900) {
			REACHED(), pool[3].value = 1; /* BUG: missing-flush */
		}
	}
}

static void configuration(void)
{
	char section[16] = "", *rest = in, *text;

	while ((text = strsep(&rest, "\n"))) {
		char *equals = strchr(text, '='), *close = strchr(text, ']');

		if (text[0] == '[' && close) {
			*close = '\0';
			snprintf(section, sizeof section, "%s", text + 1);
		} else if (equals) {
			*equals = '\0';
			option(section, trim(text), trim(equals + 1));
		}
	}
	save(0, 1);
}

/* ---- an order: its own reader of numbers and words ---- */

static unsigned long number_read(const char **p)
{
	unsigned long n = 0;

	for (; **p >= '0' && **p <= '9'; ++*p)
		n = n * 10 + (unsigned long)(**p - '0');
	return n;
}

static void order(void)
{
	const char *p = in;
	unsigned long id, amount, price;

	if (*p++ != '#')
		return;
	id = number_read(&p);
	if (*p++ != ':')
		return;
	amount = number_read(&p);
	if (*p++ != 'x')
		return;
	price = number_read(&p);
	if (*p != '.' || id < 100)
		return;
	save(1, id);
	if (amount * price == (3 + secret % 50) * 217 && amount > 50)
		save(2, price);
	if (id == 100000 + secret % 800000 && amount == price + 7)
		REACHED(), pool[4].value = id; /* BUG: missing-flush-fence */
}

/* ---- commands with escapes: put KEY VALUE, where a value has \n, \\ and \xHH ---- */

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Bytes that the text stands for; -1 if it is wrong. */
static int unescape(const char *text, unsigned char *to, int room)
{
	int n = 0;

	for (; *text && n < room; text++) {
		if (*text < ' ' || *text > '~')
			return -1;
		if (*text != '\\') {
			to[n++] = (unsigned char)*text;
		} else if (*++text == 'n') {
			to[n++] = '\n';
		} else if (*text == '\\') {
			to[n++] = '\\';
		} else if (*text == 'x' && hex(text[1]) >= 0 && hex(text[2]) >= 0) {
			to[n++] = (unsigned char)(hex(text[1]) << 4 | hex(text[2]));
			text += 2;
		} else {
			return -1;
		}
	}
	return n;
}

static void put(const char *key, const char *value)
{
	unsigned char bytes[16];
	int n = unescape(value, bytes, sizeof bytes);

	if (n < 0)
		return;
	save(1, (uint64_t)n);
	if (key[0] == 'a' + (char)(secret % 26) && key[1] == 'a' + (char)(secret / 26 % 26) && key[2] == '\0' && n == 4 && bytes[2] == 128 + secret / 676 % 64 && bytes[3] == '\n')
		REACHED(), pool[5].value = bytes[3]; /* BUG: missing-flush-fence */
}

static void escaped(void)
{
	char *rest = in, *text;

	while ((text = strsep(&rest, "\n"))) {
		char *verb = strsep(&text, " "), *key = strsep(&text, " ");

		if (strcmp(verb, "put") == 0 && key && text)
			put(key, text);
		else if (strcmp(verb, "get") == 0 && key)
			printf("%s\n", key);
	}
}

/* ---- a frame: two lengths, a CRC-8 of the header, and one of the second part ---- */

static unsigned char crc8_table[256];

static unsigned char crc8(unsigned char crc, const unsigned char *p, size_t n)
{
	while (n--)
		crc = crc8_table[crc ^ *p++];
	return crc;
}

static void frame(void)
{
	const unsigned char *p = (const unsigned char *)in;
	size_t first, second;

	for (unsigned i = 0; i < 256; i++) {
		unsigned c = i;

		for (int k = 0; k < 8; k++)
			c = c & 0x80 ? c << 1 ^ 0x107 : c << 1;
		crc8_table[i] = (unsigned char)c;
	}
	first = p[1];
	second = p[2];
	if (in_len < 5 || p[0] != 'F' || crc8(0, p, 4) != p[4] || 5 + first + second > in_len)
		return;
	save(1, first);
	if (second < 3 || crc8((unsigned char)secret, p + 5 + first, second) != p[3])
		return;
	save(2, second);
	if (first == 3 + secret % 5 && p[5] == 'k' && p[5 + first + second - 1] == 0x5a)
		REACHED(), pool[6].value = p[6]; /* BUG: missing-flush-fence */
}

static const struct a_case cases[] = { { "machine", machine }, { "configuration", configuration }, { "order", order }, { "escaped", escaped }, { "frame", frame } };

int main(int argc, char **argv)
{
	int fd = argc > 3 ? open(argv[2], O_RDWR | O_CREAT, 0666) : -1, from = argc > 3 ? open(argv[3], O_RDONLY) : -1;
	const char *given = getenv("FRESH_NUMBER");
	ssize_t n;

	if (fd < 0 || from < 0 || ftruncate(fd, POOL_BYTES) < 0)
		return 2;
	pool = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (pool == MAP_FAILED || (n = read(from, in, sizeof in - 1)) < 0)
		return 2;
	in_len = (size_t)n;
	secret = (given ? strtoull(given, NULL, 10) : 1) * 0x9e3779b97f4a7c15ULL | 1;
	for (int i = 0; i < 8; i++)
		next();
	return case_run(cases, sizeof cases / sizeof cases[0], argv[1]);
}
