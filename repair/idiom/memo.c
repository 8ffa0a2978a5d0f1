/* Remembers what was found out about functions: what they do, and their ways. */
#include "repair/idiom/internal.h"

/* Forgets all results, after further files were parsed. */
void memo_forget(struct repair *r)
{
	for (size_t i = 0; i < r->idioms->does.n; i++) {
		r->idioms->does.at[i].is_known = false;
		r->idioms->ways.at[i].is_known = false;
	}
}

static size_t number_of(struct repair *r, const struct source_function *f)
{
	struct idioms *m = r->idioms;
	size_t number = (size_t)map_get(&m->functions, (uintptr_t)f);

	if (!number) {
		*vec_add(&m->does) = (struct does_memo){ 0 };
		*vec_add(&m->ways) = (struct way_memo){ 0 };
		number = m->does.n;
		map_set(&m->functions, (uintptr_t)f, (void *)number);
	}
	return number - 1;
}

struct does_memo *does_memo(struct repair *r, const struct source_function *f)
{
	size_t number = number_of(r, f);

	return &r->idioms->does.at[number];
}

struct way_memo *way_memo(struct repair *r, const struct source_function *f)
{
	size_t number = number_of(r, f);

	return &r->idioms->ways.at[number];
}
