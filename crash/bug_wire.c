/* See bug_wire.h. */
#include "crash/bug_wire.h"

#include <stdlib.h>
#include <string.h>

static void put_stores(struct wire *m, const struct crash_store *s, size_t n)
{
	wire_number(m, n);
	for (size_t i = 0; i < n; i++) {
		wire_number(m, s[i].seq);
		wire_number(m, s[i].site);
	}
}

void bug_put(struct wire *m, const struct crash_bug *b)
{
	wire_string(m, b->kind);
	put_stores(m, b->lost.at, b->lost.n);
	put_stores(m, b->survived.at, b->survived.n);
	wire_number(m, b->is_survivor_guessed);
	wire_number(m, b->acknowledged.seq);
	wire_number(m, b->acknowledged.site);
	wire_number(m, b->at_site);
	wire_number(m, b->point);
	wire_number(m, b->seq);
	wire_number(m, b->runs);
	wire_string(m, b->outcome);
	wire_string(m, b->command);
	wire_string(m, b->output);
	wire_string(m, b->state);
	wire_number(m, (uint64_t)b->signal);
	wire_number(m, b->stack.n);
	for (size_t i = 0; i < b->stack.n; i++)
		wire_number(m, b->stack.at[i]);
}

static void get_stores(struct wire *m, struct crash_bug *b, bool lost)
{
	uint64_t n = wire_get_number(m);

	for (uint64_t i = 0; i < n && !m->is_bad; i++) {
		struct crash_store s = { .seq = wire_get_number(m) };

		s.site = (uint32_t)wire_get_number(m);
		if (lost)
			*vec_add(&b->lost) = s;
		else
			*vec_add(&b->survived) = s;
	}
}

static const char *const kinds[] = { "ordering", "atomicity", "missing-flush", "recovery-failure" };

void bug_get(struct wire *m, struct crash_bug *b)
{
	char *kind = wire_get_string(m);

	*b = (struct crash_bug){ .kind = "recovery-failure", .count = 1 };
	for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kind, kinds[i]) == 0)
			b->kind = kinds[i];
	free(kind);
	get_stores(m, b, true);
	get_stores(m, b, false);
	b->is_survivor_guessed = wire_get_number(m);
	b->acknowledged.seq = wire_get_number(m);
	b->acknowledged.site = (uint32_t)wire_get_number(m);
	b->at_site = (uint32_t)wire_get_number(m);
	b->point = wire_get_number(m);
	b->seq = wire_get_number(m);
	b->runs = wire_get_number(m);
	b->outcome = wire_get_string(m);
	b->command = wire_get_string(m);
	b->output = wire_get_string(m);
	b->state = wire_get_string(m);
	b->signal = (int)wire_get_number(m);
	for (uint64_t n = wire_get_number(m); n > 0 && !m->is_bad; n--)
		*vec_add(&b->stack) = wire_get_number(m);
}

bool bug_same(const struct crash_bug *a, const struct crash_bug *b)
{
	if (a->is_survivor_guessed && !b->is_survivor_guessed)
		return false;
	if (strcmp(a->kind, b->kind) != 0 || !a->lost.n != !b->lost.n || !a->survived.n != !b->survived.n)
		return false;
	if (a->lost.n == 0 && a->survived.n == 0)
		return a->at_site == b->at_site;
	if (a->acknowledged.site != b->acknowledged.site)
		return false;
	if (a->lost.n > 0 && a->lost.at[0].site != b->lost.at[0].site)
		return false;
	return a->survived.n == 0 || b->is_survivor_guessed || a->survived.at[0].site == b->survived.at[0].site;
}

static void merge(struct crash_bug *known, struct crash_bug *b)
{
	uint64_t count = known->count + b->count, runs = known->runs < b->runs ? known->runs : b->runs;
	struct crash_bug later = *b;

	if (b->point < known->point && known->is_survivor_guessed == b->is_survivor_guessed) {
		later = *known;
		*known = *b;
	}
	known->count = count;
	known->runs = runs;
	crash_bug_release(&later);
}

static struct crash_bug *find_same(struct crash_bug *list, size_t n, const struct crash_bug *b)
{
	for (size_t i = 0; i < n; i++)
		if (bug_same(&list[i], b))
			return &list[i];
	return NULL;
}

void bug_merge(struct crash_result *r, struct crash_bug *b)
{
	struct crash_bug *known = find_same(r->bugs.at, r->bugs.n, b);

	if (known)
		merge(known, b);
	else
		*vec_add(&r->bugs) = *b;
}

void bug_merge_guesses(struct crash_result *r)
{
	size_t n = 0;

	for (size_t i = 0; i < r->bugs.n; i++) {
		struct crash_bug *b = &r->bugs.at[i], *known = NULL;

		if (b->is_survivor_guessed)
			known = find_same(r->bugs.at, n, b);
		if (b->is_survivor_guessed && !known)
			known = find_same(b + 1, r->bugs.n - i - 1, b);
		if (known)
			merge(known, b);
		else
			r->bugs.at[n++] = *b;
	}
	r->bugs.n = n;
}
