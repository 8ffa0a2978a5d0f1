/* Sets of numbers as sorted arrays. Most sets are small and mostly read, so an array beats a
 * tree. */
#include "source/alias/set.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"
#include "util/order.h"

static void reserve(struct set *s, size_t n)
{
	if (n <= s->room)
		return;
	s->room = n > 2 * s->room ? n : 2 * s->room;
	s->at = xrealloc(s->at, s->room, sizeof *s->at);
}

/* Gives the index at which the value is, or at which it would be inserted. */
static size_t position(const struct set *s, uint32_t value)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->at[middle] < value)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool set_add(struct set *s, uint32_t value)
{
	size_t i = position(s, value);

	if (i < s->n && s->at[i] == value)
		return false;
	reserve(s, s->n + 1);
	memmove(s->at + i + 1, s->at + i, (s->n - i) * sizeof *s->at);
	s->at[i] = value;
	s->n++;
	return true;
}

void set_append(struct set *s, uint32_t value)
{
	if (s->n && s->at[s->n - 1] == value)
		return;
	reserve(s, s->n + 1);
	s->at[s->n++] = value;
}

void set_settle(struct set *s)
{
	size_t n = 0;

	if (s->n)
		qsort(s->at, s->n, sizeof *s->at, order_u32);
	for (size_t i = 0; i < s->n; i++)
		if (n == 0 || s->at[n - 1] != s->at[i])
			s->at[n++] = s->at[i];
	s->n = n;
}

static size_t count_new(const struct set *s, const struct set *from)
{
	size_t i = 0, n = 0;

	for (size_t k = 0; k < from->n; k++) {
		while (i < s->n && s->at[i] < from->at[k])
			i++;
		n += i == s->n || s->at[i] != from->at[k];
	}
	return n;
}

bool set_join(struct set *s, const struct set *from, struct set *fresh)
{
	size_t nnew = count_new(s, from), i = s->n, k = from->n, at = s->n + nnew, nadded = nnew;
	struct set added = { 0 };

	if (!nnew)
		return false;
	reserve(s, at);
	if (fresh)
		reserve(&added, nnew);
	added.n = fresh ? nnew : 0;
	s->n = at;
	/* from the end, so that each element is moved before its place is overwritten */
	while (k > 0) {
		if (i > 0 && s->at[i - 1] > from->at[k - 1]) {
			s->at[--at] = s->at[--i];
		} else if (i > 0 && s->at[i - 1] == from->at[k - 1]) {
			s->at[--at] = s->at[--i];
			k--;
		} else {
			s->at[--at] = from->at[--k];
			if (fresh)
				added.at[--nadded] = from->at[k];
		}
	}
	/* in one go, because inserting one by one would move the others each time */
	if (fresh)
		set_join(fresh, &added, NULL);
	set_release(&added);
	return true;
}

void set_release(struct set *s)
{
	free(s->at);
	*s = (struct set){ 0 };
}
