/* Natural numbers of any size, in base 10^9 so that printing them is easy. There is no subtraction,
 * and a division must leave no remainder. */
#include "util/big.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

#define BASE 1000000000u
#define DIGITS 9u

static void push(struct big *b, uint32_t digit)
{
	if (b->n == b->room) {
		b->room = b->room ? 2 * b->room : 4;
		b->digits = xrealloc(b->digits, b->room, sizeof *b->digits);
	}
	b->digits[b->n++] = digit;
}

void big_set(struct big *b, uint32_t value)
{
	b->n = 0;
	for (; value > 0; value /= BASE)
		push(b, value % BASE);
}

void big_multiply(struct big *b, uint32_t factor)
{
	uint64_t carry = 0;

	for (size_t i = 0; i < b->n; i++) {
		carry += (uint64_t)b->digits[i] * factor;
		b->digits[i] = (uint32_t)(carry % BASE);
		carry /= BASE;
	}
	for (; carry > 0; carry /= BASE)
		push(b, (uint32_t)(carry % BASE));
	while (b->n > 0 && b->digits[b->n - 1] == 0)
		b->n--;
}

void big_copy(struct big *b, const struct big *from)
{
	b->n = 0;
	for (size_t i = 0; i < from->n; i++)
		push(b, from->digits[i]);
}

void big_divide(struct big *b, uint32_t divisor)
{
	uint64_t rest = 0;

	for (size_t i = b->n; divisor != 1 && i-- > 0;) {
		rest = rest * BASE + b->digits[i];
		b->digits[i] = (uint32_t)(rest / divisor);
		rest %= divisor;
	}
	while (b->n > 0 && b->digits[b->n - 1] == 0)
		b->n--;
}

void big_add(struct big *b, const struct big *a)
{
	uint32_t carry = 0;

	for (size_t i = 0; i < a->n || carry; i++) {
		if (i == b->n)
			push(b, 0);
		carry += b->digits[i] + (i < a->n ? a->digits[i] : 0);
		b->digits[i] = carry % BASE;
		carry /= BASE;
	}
}

char *big_string(const struct big *b)
{
	char *s, *at;

	if (b->n == 0)
		return xstrdup("0");
	s = xmalloc(b->n * DIGITS + 2);
	at = s + sprintf(s, "%u", b->digits[b->n - 1]);
	for (size_t i = b->n - 1; i-- > 0;)
		at += sprintf(at, "%09u", b->digits[i]);
	return s;
}

int big_parse(struct big *b, const char *decimal)
{
	size_t end = strlen(decimal);

	big_set(b, 0);
	if (!*decimal || decimal[strspn(decimal, "0123456789")])
		return -1;
	while (end > 0) { /* from the lowest digit of base 10^9 */
		size_t first = end > DIGITS ? end - DIGITS : 0;
		uint32_t digit = 0;

		for (size_t i = first; i < end; i++)
			digit = digit * 10 + (uint32_t)(decimal[i] - '0');
		push(b, digit);
		end = first;
	}
	while (b->n > 0 && b->digits[b->n - 1] == 0)
		b->n--;
	return 0;
}

void big_release(struct big *b)
{
	free(b->digits);
	*b = (struct big){ 0 };
}
