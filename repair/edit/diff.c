/* Prints the shortest unified diff (Myers's algorithm). A copy of a function looks much like its
 * original, and a simpler algorithm would mix up their lines. Time grows with lines × changes,
 * memory with the square of the changes; there are few changes. */
#include "repair/edit/diff.h"

#include <stdbool.h>
#include <string.h>

#include "util/vec.h"

enum { CONTEXT = 3 };

struct line {
	const char *text;
	size_t len_bytes; /* including the newline */
};
typedef VEC(struct line) lines;

struct change {
	/* na lines from line a of the old text become nb lines from line b of the new text */
	size_t a, na, b, nb;
};
typedef VEC(struct change) changes;

static void split(lines *l, const char *text)
{
	while (*text) {
		const char *end = strchr(text, '\n');
		size_t len = end ? (size_t)(end - text) + 1 : strlen(text);

		*vec_add(l) = (struct line){ text, len };
		text += len;
	}
}

static bool is_equal(const lines *a, size_t i, const lines *b, size_t k)
{
	return a->at[i].len_bytes == b->at[k].len_bytes &&
	       memcmp(a->at[i].text, b->at[k].text, a->at[i].len_bytes) == 0;
}

/* State of Myers's search. steps.at[d]: for d changes, the furthest line of `a` on each diagonal
 * from -d to d. */
struct search {
	const lines *a, *b;
	/* equal lines at the beginning; number of lines between the equal beginning and the equal
	 * end */
	size_t head, na, nb;
	VEC(long *) steps;
};

/* Allows one more change on every diagonal. True: the end of both texts is reached. */
static bool search_step(struct search *s, long d)
{
	long *now = xcalloc((size_t)(2 * d + 1), sizeof *now),
	     *last = d ? s->steps.at[d - 1] : NULL;
	bool is_done = false;

	*vec_add(&s->steps) = now;
	for (long k = -d; k <= d && !is_done; k += 2) {
		long x = 0, y;

		if (d) /* either b has one line more, or a has one more */
			x = k == -d || (k != d && last[k - 1 + d - 1] < last[k + 1 + d - 1])
				    ? last[k + 1 + d - 1]
				    : last[k - 1 + d - 1] + 1;
		for (y = x - k; x < (long)s->na && y < (long)s->nb &&
				is_equal(s->a, s->head + (size_t)x, s->b, s->head + (size_t)y);
		     y++)
			x++;
		now[k + d] = x;
		is_done = x >= (long)s->na && y >= (long)s->nb;
	}
	return is_done;
}

/* Goes back from the end and marks the lines that are not common to both. */
static void search_mark(const struct search *s, bool *is_removed, bool *is_added)
{
	long x = (long)s->na, y = (long)s->nb;

	for (long d = (long)s->steps.n - 1; d > 0; d--) {
		const long *last = s->steps.at[d - 1];
		long k = x - y,
		     from = k == -d || (k != d && last[k - 1 + d - 1] < last[k + 1 + d - 1])
				    ? k + 1
				    : k - 1;

		x = last[from + d - 1];
		y = x - from;
		if (from > k)
			is_added[s->head + (size_t)y] = true;
		else
			is_removed[s->head + (size_t)x] = true;
	}
}

static void collect(changes *out, const lines *a, const lines *b, const bool *is_removed,
		    const bool *is_added)
{
	size_t i = 0, k = 0;

	while (i < a->n || k < b->n) {
		struct change c = { .a = i, .b = k };

		while (i < a->n && is_removed[i])
			i++;
		while (k < b->n && is_added[k])
			k++;
		c.na = i - c.a;
		c.nb = k - c.b;
		if (c.na || c.nb) {
			*vec_add(out) = c;
		} else {
			i++;
			k++;
		}
	}
}

static void compare(changes *out, const lines *a, const lines *b)
{
	struct search s = { .a = a, .b = b };
	size_t tail = 0, shorter = a->n < b->n ? a->n : b->n;
	bool *is_removed = xcalloc(a->n + 1, sizeof *is_removed),
	     *is_added = xcalloc(b->n + 1, sizeof *is_added);

	while (s.head < shorter && is_equal(a, s.head, b, s.head))
		s.head++;
	while (tail < shorter - s.head && is_equal(a, a->n - 1 - tail, b, b->n - 1 - tail))
		tail++;
	s.na = a->n - s.head - tail;
	s.nb = b->n - s.head - tail;
	for (long d = 0; !search_step(&s, d); d++)
		;
	search_mark(&s, is_removed, is_added);
	collect(out, a, b, is_removed, is_added);
	for (size_t i = 0; i < s.steps.n; i++)
		free(s.steps.at[i]);
	vec_release(&s.steps);
	free(is_removed);
	free(is_added);
}

static void print_lines(FILE *f, char sign, const lines *l, size_t from, size_t n)
{
	for (size_t i = from; i < from + n; i++) {
		putc(sign, f);
		fwrite(l->at[i].text, 1, l->at[i].len_bytes, f);
		if (l->at[i].text[l->at[i].len_bytes - 1] != '\n')
			fputs("\n\\ No newline at end of file\n", f);
	}
}

static void print_hunk(FILE *f, const lines *a, const lines *b, const struct change *c, size_t n)
{
	const struct change *last = &c[n - 1];
	size_t before = c->a < CONTEXT ? c->a : CONTEXT;
	size_t end = last->a + last->na, after = a->n - end < CONTEXT ? a->n - end : CONTEXT;
	size_t na = end + after - (c->a - before),
	       nb = last->b + last->nb + after - (c->b - before), at = c->a - before;

	fprintf(f, "@@ -%zu,%zu +%zu,%zu @@\n", c->a - before + (na > 0), na,
		c->b - before + (nb > 0), nb);
	for (size_t i = 0; i < n; i++) {
		print_lines(f, ' ', a, at, c[i].a - at);
		print_lines(f, '-', a, c[i].a, c[i].na);
		print_lines(f, '+', b, c[i].b, c[i].nb);
		at = c[i].a + c[i].na;
	}
	print_lines(f, ' ', a, at, after);
}

void diff_print(FILE *f, const char *name, const char *before, const char *after)
{
	lines a = { 0 }, b = { 0 };
	changes all = { 0 };
	const char *tab = strchr(name, ' ') ? "\t" : ""; /* tells patch(1) where the name ends */

	split(&a, before);
	split(&b, after);
	compare(&all, &a, &b);
	if (all.n)
		fprintf(f, "--- a/%s%s\n+++ b/%s%s\n", name, tab, name, tab);
	for (size_t i = 0, n; i < all.n; i += n) {
		for (n = 1;
		     i + n < all.n &&
		     all.at[i + n].a - (all.at[i + n - 1].a + all.at[i + n - 1].na) <= 2 * CONTEXT;
		     n++)
			;
		print_hunk(f, &a, &b, &all.at[i], n);
	}
	vec_release(&all);
	vec_release(&a);
	vec_release(&b);
}
