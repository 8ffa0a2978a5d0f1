/* Replaces the C library's functions that read numbers (strtol, atoi, …) in the traced program,
 * with one branch per digit. The library's own functions have more branches, which are about
 * overflow and say nothing about the number, and they choose without a branch where to begin, so
 * each digit could come from two places of the input. Numbers that cannot overflow are simply added
 * up. Only for the C locale. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "pub_tool_redir.h"
#include "measured.h"

#define REPLACES(name) VG_REPLACE_FUNCTION_EZU(20990, VG_Z_LIBC_SONAME, name)
#define NONE 64

extern int *__errno_location(void) __attribute__((weak));

static void errno_set(int value)
{
	if (__errno_location)
		*__errno_location() = value;
}

struct number {
	uint64_t magnitude;
	int is_negative, is_long, is_too_large; /* only a long number may be too large */
	const char *end;                        /* equal to the beginning if there are no digits */
	const char *from;                       /* includes the sign */
	int is_decimal;
};

static inline __attribute__((always_inline)) unsigned digit(char c)
{
	if ((unsigned char)(c - '0') <= 9)
		return (unsigned char)(c - '0');
	if ((unsigned char)((c | 32) - 'a') <= 25)
		return (unsigned)(unsigned char)((c | 32) - 'a') + 10;
	return NONE;
}

/* Gives a number of digits that always fits into 63 bits. */
static unsigned safe_digits(unsigned base)
{
	unsigned bits = 1;

	while (1u << bits < base)
		bits++;
	return 63 / bits;
}

/* Asks whether there is a prefix 0x with a digit after it. Without the digit, the number is the 0
 * of "0x". */
static int has_prefix(const char *s, unsigned base)
{
	return (base == 0 || base == 16) && s[0] == '0' && (s[1] | 32) == 'x' && digit(s[2]) < 16;
}

static void digits_add(struct number *n, const char *s, unsigned base)
{
	unsigned safe = base == 10 ? 18 : safe_digits(base), count = 0;

	for (;; s++, count++) {
		unsigned d = digit(*s);

		if (d >= base)
			break;
		if (count < safe)
			n->magnitude = n->magnitude * base + d;
		else if (__builtin_mul_overflow(n->magnitude, (uint64_t)base, &n->magnitude) ||
			 __builtin_add_overflow(n->magnitude, (uint64_t)d, &n->magnitude))
			n->is_too_large = 1;
		n->end = s + 1;
	}
	n->is_long = count > safe;
}

static struct number number_read(const char *s, int base)
{
	struct number n = { .end = s };

	while (*s == ' ' || (unsigned char)(*s - '\t') <= '\r' - '\t')
		s++;
	n.from = s;
	if (*s == '-')
		n.is_negative = 1;
	if (*s == '-' || *s == '+')
		s++;
	if (has_prefix(s, (unsigned)base)) {
		s += 2;
		base = 16;
	} else if (base == 0) {
		base = *s == '0' ? 8 : 10;
	}
	n.is_decimal = base == 10;
	digits_add(&n, s, (unsigned)base);
	return n;
}

static uint64_t value_of(const struct number *n)
{
	uint64_t value = n->is_negative ? -n->magnitude : n->magnitude;

	if (!n->is_decimal || n->is_long)
		return value;
	return measured(PMP_WORD_NUMBER, n->from,
			n->end > n->from ? (uint64_t)(n->end - n->from) : 0, value);
}

/* Asks whether the base is valid. If not, sets EINVAL; like the C library, the caller then sets no
 * end. */
static int is_base(int base)
{
	if (base == 0 || (base >= 2 && base <= 36))
		return 1;
	errno_set(EINVAL);
	return 0;
}

static long read_signed(const char *s, char **end, int base)
{
	struct number n;

	if (!is_base(base))
		return 0;
	n = number_read(s, base);
	if (end)
		*end = (char *)n.end;
	if (n.is_long && (n.is_too_large || n.magnitude > INT64_MAX + (uint64_t)n.is_negative)) {
		errno_set(ERANGE);
		return n.is_negative ? INT64_MIN : INT64_MAX;
	}
	return (long)value_of(&n);
}

static unsigned long read_unsigned(const char *s, char **end, int base)
{
	struct number n;

	if (!is_base(base))
		return 0;
	n = number_read(s, base);
	if (end)
		*end = (char *)n.end;
	if (n.is_long && n.is_too_large) {
		errno_set(ERANGE);
		return UINT64_MAX;
	}
	return value_of(&n);
}

#define READER(type, name, how) \
	type REPLACES(name)(const char *s, char **end, int base); \
	type REPLACES(name)(const char *s, char **end, int base) \
	{ \
		return how(s, end, base); \
	}
READER(long, strtol, read_signed)
READER(long, strtoll, read_signed)
READER(long, strtoimax, read_signed)
READER(long, __isoc23_strtol, read_signed)
READER(long, __isoc23_strtoll, read_signed)
READER(unsigned long, strtoul, read_unsigned)
READER(unsigned long, strtoull, read_unsigned)
READER(unsigned long, strtoumax, read_unsigned)
READER(unsigned long, __isoc23_strtoul, read_unsigned)
READER(unsigned long, __isoc23_strtoull, read_unsigned)

#define SIMPLE(type, name) \
	type REPLACES(name)(const char *s); \
	type REPLACES(name)(const char *s) \
	{ \
		return (type)read_signed(s, NULL, 10); \
	}
SIMPLE(int, atoi)
SIMPLE(long, atol)
SIMPLE(long, atoll)
