/* Records of several types, each an update behaviour of its own for --strategy representative. All but the last are published before any of their seven fields is durable, so that each has
 * very many states that fail in the same way; the last has one field, which is another bug. Whoever tests the first groups to their end does not come to the last for a long
 * time. `groups run POOL`, `groups check POOL`: exit status 1 where a field is missing, 2 where the total is. */
#include "pm.h"

#define APART _Alignas(LINE_BYTES) uint64_t

#define RECORD(name)                                                                                       \
	struct name {                                                                                      \
		APART a;                                                                                   \
		APART b;                                                                                   \
		APART c;                                                                                   \
		APART d;                                                                                   \
		APART e;                                                                                   \
		APART f;                                                                                   \
		APART g;                                                                                   \
		APART is_set;                                                                              \
	};                                                                                                 \
	static void fill_##name(struct name *r)                                                            \
	{                                                                                                  \
		r->a = r->b = r->c = r->d = r->e = r->f = r->g = 1;                                        \
		r->is_set = 1;                                                                             \
		persist(&r->is_set, sizeof r->is_set);                                                     \
		persist(r, sizeof *r);                                                                     \
	}                                                                                                  \
	static uint64_t missing_##name(const struct name *r)                                               \
	{                                                                                                  \
		return r->is_set ? 7 - (r->a + r->b + r->c + r->d + r->e + r->f + r->g) : 0;               \
	}

RECORD(person)
RECORD(place)
RECORD(visit)
RECORD(letter)

struct summary {
	APART total;
	APART is_valid;
};

struct pool {
	struct person person;
	struct place place;
	struct visit visit;
	struct letter letter;
	struct summary summary;
};

static void summarise(struct summary *s)
{
	s->total = 4; /* BUG: total: ordering lost */
	s->is_valid = 1; /* BUG: total: ordering survived */
	persist(&s->is_valid, sizeof s->is_valid);
	persist(&s->total, sizeof s->total);
}

static int run(const char *path)
{
	struct pool *p = pool_create(path, sizeof *p);

	fill_person(&p->person);
	fill_place(&p->place);
	fill_visit(&p->visit);
	fill_letter(&p->letter);
	summarise(&p->summary);
	return 0;
}

static int check(const char *path)
{
	const struct pool *p = pool_open(path, sizeof *p);

	if (!p)
		return 0;
	if (missing_person(&p->person) + missing_place(&p->place) + missing_visit(&p->visit) + missing_letter(&p->letter) > 0)
		return 1;
	return p->summary.is_valid && p->summary.total == 0 ? 2 : 0;
}

int main(int argc, char **argv)
{
	CHECK(argc == 3);
	return strcmp(argv[1], "run") == 0 ? run(argv[2]) : check(argv[2]);
}
