/* Natural numbers of any size, with the operations that counting crash states needs. A struct that
 * is all zeros is the number 0. */
#ifndef UTIL_BIG_H
#define UTIL_BIG_H

#include <stddef.h>
#include <stdint.h>

struct big {
	uint32_t *digits; /* base 10^9, lowest first */
	size_t n, room;
};

void big_set(struct big *b, uint32_t value);
void big_copy(struct big *b, const struct big *from);
void big_multiply(struct big *b, uint32_t factor);
void big_divide(struct big *b, uint32_t divisor); /* must leave no remainder */
void big_add(struct big *b, const struct big *a);
char *big_string(const struct big *b);             /* decimal; free() it */
int big_parse(struct big *b, const char *decimal); /* -1 if the text is not a decimal number */
void big_release(struct big *b);

#endif
