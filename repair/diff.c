/* A unified diff. Changes are few and local, so lines are matched greedily: after a difference, the nearest pair of equal lines
 * goes on. That is right for insertions and for replaced lines, which is all that repair makes; for anything else it is
 * still a correct diff, if a long one. */
#include <string.h>

#include "repair/repair.h"
#include "util/vec.h"

enum { CONTEXT = 3 };

struct line {
	const char *text;
	size_t len_bytes; /* with the newline */
};
typedef VEC(struct line) lines;

struct change {
	size_t a, na, b, nb; /* lines a… of the old become lines b… of the new */
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
	return a->at[i].len_bytes == b->at[k].len_bytes && memcmp(a->at[i].text, b->at[k].text, a->at[i].len_bytes) == 0;
}

/* The nearest place where both go on alike; ends of both count as alike. */
static struct change next_change(const lines *a, size_t i, const lines *b, size_t k)
{
	for (size_t far = 1; i + far <= a->n + b->n || k + far <= a->n + b->n; far++)
		for (size_t x = 0; x <= far; x++) {
			size_t y = far - x;

			if (i + x > a->n || k + y > b->n)
				continue;
			if ((i + x == a->n && k + y == b->n) || (i + x < a->n && k + y < b->n && is_equal(a, i + x, b, k + y)))
				return (struct change){ i, x, k, y };
		}
	return (struct change){ i, a->n - i, k, b->n - k };
}

static void compare(changes *out, const lines *a, const lines *b)
{
	size_t i = 0, k = 0;

	while (i < a->n || k < b->n) {
		if (i < a->n && k < b->n && is_equal(a, i, b, k)) {
			i++;
			k++;
			continue;
		}
		*vec_add(out) = next_change(a, i, b, k);
		i += out->at[out->n - 1].na;
		k += out->at[out->n - 1].nb;
	}
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
	size_t na = end + after - (c->a - before), nb = last->b + last->nb + after - (c->b - before), at = c->a - before;

	fprintf(f, "@@ -%zu,%zu +%zu,%zu @@\n", c->a - before + (na > 0), na, c->b - before + (nb > 0), nb);
	for (size_t i = 0; i < n; i++) {
		print_lines(f, ' ', a, at, c[i].a - at);
		print_lines(f, '-', a, c[i].a, c[i].na);
		print_lines(f, '+', b, c[i].b, c[i].nb);
		at = c[i].a + c[i].na;
	}
	print_lines(f, ' ', a, at, after);
}

void repair_diff(FILE *f, const char *name, const char *before, const char *after)
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
		for (n = 1; i + n < all.n && all.at[i + n].a - (all.at[i + n - 1].a + all.at[i + n - 1].na) <= 2 * CONTEXT; n++)
			;
		print_hunk(f, &a, &b, &all.at[i], n);
	}
	vec_release(&all);
	vec_release(&a);
	vec_release(&b);
}
