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
		flush(&pool[20]);
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
			REACHED(), pool[3].value = 1; /* BUG: missing-flush-fence */
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

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = { { "machine", machine }, { "configuration", configuration }, { "order", order } };

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
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		if (strcmp(cases[i].name, argv[1]) == 0) {
			cases[i].run();
#ifdef REACHED_STATUS
			return is_reached ? REACHED_STATUS : 0;
#endif
			return 0;
		}
	return 2;
}
