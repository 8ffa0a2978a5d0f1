/* Replaces one word of the input by a word of another length. What follows the word moves; bytes at
 * the end that become free are 0. */
#include "explore/path/token.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool token_put(const struct path_token *t, uint8_t *bytes, size_t len_bytes)
{
	size_t from, to, n;

	if (t->index > len_bytes || t->nbytes > len_bytes - t->index ||
	    t->wanted.n > len_bytes - t->index)
		return false;
	from = t->index + t->nbytes;
	to = t->index + t->wanted.n;
	n = len_bytes - (from > to ? from : to);
	memmove(bytes + to, bytes + from, n);
	memcpy(bytes + t->index, t->wanted.at, t->wanted.n);
	memset(bytes + to + n, 0, len_bytes - to - n);
	return true;
}

#define FILLER '1' /* occurs in words and in numbers */

bool word_put(const struct path_word *w, uint64_t value, uint8_t *bytes, size_t len_bytes)
{
	struct path_token t = { .index = w->index, .nbytes = w->nbytes };
	char number[32];
	int n = snprintf(number, sizeof number, "%" PRId64, (int64_t)value);
	bool is_put;

	if (w->index > len_bytes || w->nbytes > len_bytes - w->index ||
	    (!w->is_number && value > len_bytes - w->index))
		return false;
	for (uint64_t i = 0; i < (w->is_number ? (uint64_t)n : value); i++)
		*vec_add(&t.wanted) = w->is_number    ? (uint8_t)number[i]
				      : i < w->nbytes ? bytes[w->index + i]
				      : w->nbytes     ? bytes[w->index + w->nbytes - 1]
						      : FILLER;
	is_put = token_put(&t, bytes, len_bytes);
	vec_release(&t.wanted);
	return is_put;
}
