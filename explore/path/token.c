/* Puts one word into the place of another of different length. What follows moves; bytes that get free are 0. */
#include "explore/path/token.h"

#include <string.h>

bool token_put(const struct path_token *t, uint8_t *bytes, size_t len_bytes)
{
	size_t from, to, n;

	if (t->index > len_bytes || t->nbytes > len_bytes - t->index || t->wanted.n > len_bytes - t->index)
		return false;
	from = t->index + t->nbytes;
	to = t->index + t->wanted.n;
	n = len_bytes - (from > to ? from : to);
	memmove(bytes + to, bytes + from, n);
	memcpy(bytes + t->index, t->wanted.at, t->wanted.n);
	memset(bytes + to + n, 0, len_bytes - to - n);
	return true;
}
