/* Flushes that cover less than they are given: a helper that never advances, or that leaves out the last line, or a call with the wrong length. The helper or the call is the finding, and all that
 * is not flushed is listed under it. And flushes that are meant to cover no more. run.py says how they are marked.
 *
 *	PROG POOL CASE		creates the pool and runs a case
 *	PROG POOL CASE recover	status 1: what was found is no state of the case */
#include <stddef.h>

#include "pm.h"

struct line {
	_Alignas(LINE_BYTES) uint64_t a;
	uint64_t rest[7];
};

enum { MAGIC = 0x6465646e6168, NLINES = 5 };

struct record {
	struct line part[NLINES];
};

struct pool {
	struct line magic, flag;
	struct record x, y, z;
};

/* ---- helpers ---- */

/* Flushes the first line as often as there are lines. */
static __attribute__((noinline)) void flush_stuck(const void *addr, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes; i += LINE_BYTES)
		flush_line((uintptr_t)addr); /* BUG: stuck: short-flush flush */ /* BUG: more: short-flush flush */ /* BUG: others: short-flush flush */
}

/* Steps from the address on, and not from where its line begins. */
static __attribute__((noinline)) void flush_steps(const void *addr, size_t len_bytes)
{
	for (uintptr_t at = (uintptr_t)addr; at < (uintptr_t)addr + len_bytes; at += LINE_BYTES)
		flush_line(at); /* BUG: steps: short-flush flush */
}

/* As many lines as there are whole ones. */
static inline void flush_whole(const void *addr, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes / LINE_BYTES; i++)
		flush_line(((uintptr_t)addr & ~(uintptr_t)(LINE_BYTES - 1)) + i * LINE_BYTES); /* BUG: whole: short-flush flush */ /* BUG: object: short-flush flush */
}

/* Ends a line too early. */
static __attribute__((noinline)) void flush_early(const void *addr, size_t len_bytes)
{
	uintptr_t at = (uintptr_t)addr, end = at + len_bytes;

	for (at &= ~(uintptr_t)(LINE_BYTES - 1); at < end - LINE_BYTES; at += LINE_BYTES)
		flush_line(at); /* BUG: early: short-flush flush */
}

/* Its end is rounded down. */
static __attribute__((noinline)) void flush_down(const void *addr, size_t len_bytes)
{
	uintptr_t at = (uintptr_t)addr, end = (at + len_bytes) & ~(uintptr_t)(LINE_BYTES - 1);

	for (at &= ~(uintptr_t)(LINE_BYTES - 1); at < end; at += LINE_BYTES)
		flush_line(at); /* BUG: down: short-flush flush */
}

static inline void flush_one(uintptr_t line)
{
	flush_line(line);
}

/* Whatever the length is. */
static __attribute__((noinline)) void flush_begin(const void *addr, size_t len_bytes)
{
	(void)len_bytes;
	flush_one((uintptr_t)addr); /* BUG: begin: short-flush flush */
}

static __attribute__((noinline)) void flush_all(const void *addr, size_t len_bytes)
{
	flush(addr, len_bytes);
}

/* Of a line. */
static __attribute__((noinline)) void flush_first(const void *addr)
{
	flush_line((uintptr_t)addr & ~(uintptr_t)(LINE_BYTES - 1));
}

static __attribute__((noinline)) void flush_first_of(const void *addr, size_t len_bytes)
{
	flush_all(addr, len_bytes < LINE_BYTES ? len_bytes : LINE_BYTES);
}

/* Hands its length on. */
static __attribute__((noinline)) void persist_all(const void *addr, size_t len_bytes)
{
	flush_all(addr, len_bytes);
	fence();
}

/* Only lines that are not what they were, as a copy in DRAM says. */
static __attribute__((noinline)) void flush_changed(const struct record *r, size_t len_bytes, const struct record *old)
{
	for (size_t i = 0; i * LINE_BYTES < len_bytes; i++)
		if (memcmp(&r->part[i], &old->part[i], sizeof r->part[i]) != 0)
			flush_line((uintptr_t)&r->part[i]);
}

static void publish(struct pool *p, uint64_t n)
{
	fence();
	p->flag.a = n;
	flush_all(&p->flag, sizeof p->flag);
	fence();
}

/* ---- one helper, several callers ---- */

static __attribute__((noinline)) void set_fields(struct record *r, uint64_t n, void (*flush_it)(const void *, size_t))
{
	r->part[0].a = n;
	r->part[1].a = n + 1; /* BUG: others: missing-flush store */
	r->part[2].a = n + 2; /* BUG: others: missing-flush store */
	r->part[4].a = n + 3; /* BUG: others: missing-flush store */
	flush_it(r, sizeof *r);
}

static __attribute__((noinline)) void fill(struct record *r, uint64_t n, void (*flush_it)(const void *, size_t))
{
	for (uint64_t i = 0; i < sizeof *r / 8; i++)
		((uint64_t *)r)[i] = n + i;
	flush_it(r, sizeof *r);
}

static void stuck_run(struct pool *p)
{
	set_fields(&p->x, 1, flush_stuck);
	fill(&p->y, 10, flush_stuck);
	publish(p, 1);
}

/* And something that no helper was given. */
static void more_run(struct pool *p)
{
	set_fields(&p->x, 1, flush_stuck);
	fill(&p->y, 10, flush_stuck);
	p->z.part[0].a = 7; /* BUG: more: missing-flush store */
	publish(p, 1);
}

/* What the same lines store elsewhere is given to a helper that flushes the first line only: it is not gone with the other helper. */
static void others_run(struct pool *p)
{
	set_fields(&p->x, 1, flush_stuck);
	fill(&p->y, 10, flush_stuck);
	set_fields(&p->z, 1, flush_first_of);
	publish(p, 1);
}

/* Word by word: the first line is flushed as often as a helper would that never advances. */
static void words_run(struct pool *p)
{
	p->x.part[1].a = 2; /* BUG: words: missing-flush store */
	p->x.part[2].a = 3; /* BUG: words: missing-flush store */
	p->x.part[4].a = 4;
	flush_all(&p->x.part[4], 8);
	p->x.part[0].a = 1;
	for (int i = 0; i < 8; i++)
		flush_first(&p->x.part[0].a + i);
	fill(&p->y, 10, flush_all);
	publish(p, 1);
}

static void both_recover(struct pool *p)
{
	if (!p->flag.a)
		return;
	CHECK(p->x.part[0].a == 1 && p->x.part[1].a == 2);
	CHECK(p->x.part[2].a == 3);
	CHECK(p->x.part[4].a == 4);
	for (uint64_t i = 0; i < sizeof p->y / 8; i++)
		CHECK(((uint64_t *)&p->y)[i] == 10 + i);
}

/* The same with a helper that is right. */
static void right_run(struct pool *p)
{
	set_fields(&p->x, 1, flush_all);
	fill(&p->y, 10, flush_all);
	publish(p, 1);
}

/* ---- a range that begins inside a line ---- */

enum { STEPS_AT = 48, STEPS_BYTES = 3 * LINE_BYTES };

static __attribute__((noinline)) void fill_inside(struct record *r, char c, size_t at)
{
	memset((char *)r + at, c, STEPS_BYTES);
	flush_steps((char *)r + at, STEPS_BYTES);
}

static void steps_run(struct pool *p)
{
	fill_inside(&p->x, 'x', STEPS_AT);
	fill_inside(&p->y, 'y', STEPS_AT);
	fill_inside(&p->z, 'z', 0);
	publish(p, 1);
}

static void steps_recover(struct pool *p)
{
	for (size_t i = 0; p->flag.a && i < STEPS_BYTES; i++)
		CHECK(((char *)&p->x)[STEPS_AT + i] == 'x' && ((char *)&p->y)[STEPS_AT + i] == 'y' && ((char *)&p->z)[i] == 'z');
}

/* ---- calls with the wrong length ---- */

/* The size of the pointer. */
static __attribute__((noinline)) void fill_pointer(struct record *r)
{
	for (uint64_t i = 0; i < sizeof *r / 8; i++)
		((uint64_t *)r)[i] = 10 + i;
	flush_all(r, sizeof(r)); /* BUG: pointer: short-flush flush */
}

static void pointer_run(struct pool *p)
{
	set_fields(&p->x, 1, flush_all);
	fill_pointer(&p->y);
	publish(p, 1);
}

/* Fields, each in a line of its own. */
static __attribute__((noinline)) void set_pointer(struct record *r)
{
	r->part[0].a = 1;
	r->part[1].a = 2;
	r->part[2].a = 3;
	r->part[4].a = 4;
	flush_all(r, sizeof(r)); /* BUG: fields: short-flush flush */
}

static void fields_run(struct pool *p)
{
	set_pointer(&p->x);
	fill(&p->y, 10, flush_all);
	publish(p, 1);
}

/* ---- by a type, by several calls ---- */

enum { WHOLE_BYTES = 3 * LINE_BYTES + 8 };

static void whole_run(struct pool *p)
{
	memset(&p->x, 'x', WHOLE_BYTES);
	flush_whole(&p->x, WHOLE_BYTES);
	memset(&p->y, 'y', WHOLE_BYTES);
	flush_whole(&p->y, WHOLE_BYTES);
	memset(&p->z, 'z', 2 * LINE_BYTES);
	flush_whole(&p->z, 2 * LINE_BYTES);
	publish(p, 1);
}

static void begin_run(struct pool *p)
{
	memset(&p->x, 'x', WHOLE_BYTES);
	flush_begin(&p->x, WHOLE_BYTES);
	memset(&p->y, 'y', WHOLE_BYTES);
	flush_begin(&p->y, WHOLE_BYTES);
	publish(p, 1);
}

static void bytes_recover(struct pool *p)
{
	for (size_t i = 0; p->flag.a && i < WHOLE_BYTES; i++)
		CHECK(((char *)&p->x)[i] == 'x' && ((char *)&p->y)[i] == 'y');
}

struct odd {
	struct line first;
	uint64_t more[9];
};

/* Fields in several lines, given by the size of their struct. */
static void object_run(struct pool *p)
{
	struct odd *o = (struct odd *)&p->x;

	o->first.a = 1;
	o->more[0] = 2;
	o->more[8] = 3;
	flush_whole(o, offsetof(struct odd, more[9]) - LINE_BYTES); /* right: two lines */
	flush_all(&o->more[8], 8);
	fence();
	o->more[0] = 4;
	o->more[8] = 5;
	flush_whole(&o->more, sizeof o->more);
	publish(p, 1);
}

static void object_recover(struct pool *p)
{
	const struct odd *o = (struct odd *)&p->x;

	if (p->flag.a)
		CHECK(o->more[0] == 4 && o->more[8] == 5);
}

/* One wrong call, which hands its length to another helper, and is reached in two ways. */
static __attribute__((noinline)) void fill_half(struct record *r, char c)
{
	memset(r, c, sizeof *r);
	persist_all(r, sizeof *r / 2); /* BUG: half: short-flush flush */
}

static void half_run(struct pool *p)
{
	fill(&p->z, 10, flush_all);
	fill_half(&p->x, 'x');
	fill_half(&p->y, 'y');
	publish(p, 1);
}

/* The flush is too short, but also too late: with the right length, a crash still shows it. */
static void late_run(struct pool *p)
{
	memset(&p->x, 'x', sizeof p->x); /* BUG: late: missing-flush store */
	publish(p, 1);
	persist_all(&p->x, LINE_BYTES);
}

static void late_recover(struct pool *p)
{
	if (p->flag.a)
		CHECK(((const char *)&p->x)[sizeof p->x - 1] == 'x');
}

/* ---- helpers that end too early ---- */

/* By an object, and by what the line before stores. */
static __attribute__((noinline)) void copy_early(struct record *r, const char *from, size_t len_bytes)
{
	memcpy(r, from, len_bytes);
	flush_early(r, len_bytes);
}

static void early_run(struct pool *p)
{
	char from[sizeof(struct record)];

	memset(from, 'x', sizeof from);
	set_fields(&p->z, 1, flush_early);
	copy_early(&p->x, from, WHOLE_BYTES);
	copy_early(&p->y, memset(from, 'y', sizeof from), sizeof from);
	publish(p, 1);
}

/* Of one call only, which is right. */
static __attribute__((noinline)) void copy_down(struct record *r, const char *from, size_t len_bytes)
{
	memcpy(r, from, len_bytes);
	flush_down(r, len_bytes);
}

static void down_run(struct pool *p)
{
	char from[sizeof(struct record)];

	memset(from, 'x', sizeof from);
	copy_down(&p->x, from, WHOLE_BYTES);
	copy_down(&p->y, memset(from, 'y', sizeof from), sizeof from);
	publish(p, 1);
}

/* A helper that is right, and is given less than what the line before stores. */
static __attribute__((noinline)) void copy_less(struct record *r, const char *from, size_t len_bytes)
{
	memcpy(r, from, len_bytes);
	flush_all(r, len_bytes - LINE_BYTES); /* BUG: less: short-flush flush */
}

static void less_run(struct pool *p)
{
	char from[sizeof(struct record)];

	memset(from, 'x', sizeof from);
	copy_less(&p->x, from, WHOLE_BYTES);
	copy_less(&p->y, memset(from, 'y', sizeof from), sizeof from);
	publish(p, 1);
}

/* Rounds down by intent: the line that is not full is flushed with what follows. */
static void tail_run(struct pool *p)
{
	char from[sizeof(struct record)], *to = (char *)&p->x;

	memset(from, 'x', sizeof from);
	memcpy(to, from, WHOLE_BYTES - 16);
	flush_whole(to, WHOLE_BYTES - 16);
	fence();
	memcpy(to + WHOLE_BYTES - 16, from, 16);
	flush_all(to + 2 * LINE_BYTES, LINE_BYTES + 8);
	memset(&p->y, 'y', WHOLE_BYTES);
	flush_all(&p->y, WHOLE_BYTES);
	publish(p, 1);
}

/* ---- no such thing ---- */

static __attribute__((noinline)) void set_line(struct line *l, uint64_t n)
{
	l->a = n; /* BUG: cells: missing-flush store */
}

/* Of two neighbours that one statement sets, the second is forgotten. */
static void cells_run(struct pool *p)
{
	set_line(&p->x.part[1], 2);
	fence();
	set_line(&p->x.part[0], 1);
	flush_all(&p->x.part[0], sizeof p->x.part[0]);
	fill(&p->y, 10, flush_all);
	publish(p, 1);
}

static void cells_recover(struct pool *p)
{
	if (p->flag.a)
		CHECK(p->x.part[0].a == 1 && p->x.part[1].a == 2);
}

/* Lines that did not change are not flushed; what is behind the object is forgotten. */
static void changed_run(struct pool *p)
{
	struct record old = p->x;

	p->x.part[1].a = 1;
	p->x.part[3].a = 1;
	p->y.part[0].a = 3; /* BUG: changed: missing-flush store */
	flush_changed(&p->x, sizeof p->x, &old);
	publish(p, 1);
}

static void changed_recover(struct pool *p)
{
	if (p->flag.a)
		CHECK(p->x.part[1].a == 1 && p->y.part[0].a == 3);
}

static __attribute__((noinline)) void put(uint64_t *to, const void *from, size_t len_bytes)
{
	memcpy(to, from, len_bytes);
	flush_all(to, len_bytes);
}

/* The size of a pointer, but of one that is copied itself; and another line is forgotten. */
static void value_run(struct pool *p)
{
	const struct record *x = &p->y;

	p->x.part[1].a = 2; /* BUG: value: missing-flush store */
	put(&p->x.part[0].a, &x, sizeof(x));
	publish(p, 1);
}

static void value_recover(struct pool *p)
{
	if (p->flag.a)
		CHECK(p->x.part[1].a == 2);
}

/* Flushes what is first, and the rest elsewhere. */
static void header_run(struct pool *p)
{
	for (uint64_t i = 0; i < sizeof p->y / 8; i++)
		((uint64_t *)&p->y)[i] = 10 + i;
	set_fields(&p->x, 1, flush_all);
	flush_all(&p->y, 8);
	flush_all(&p->y.part[1], sizeof p->y - LINE_BYTES);
	publish(p, 1);
}

/* Two flushes are forgotten, of lines that follow one that is flushed: two bugs. */
static void two_run(struct pool *p)
{
	fill(&p->y, 10, flush_all);
	p->x.part[0].a = 1;
	flush_all(&p->x.part[0].a, 8);
	p->x.part[1].a = 2; /* BUG: two: missing-flush store */
	p->x.part[2].a = 3; /* BUG: two: missing-flush store */
	p->x.part[4].a = 4;
	flush_all(&p->x.part[4].a, 8);
	publish(p, 1);
}

static const struct {
	const char *name;
	void (*run)(struct pool *p), (*recover)(struct pool *p);
} cases[] = {
	{ "stuck", stuck_run, both_recover },	  { "right", right_run, both_recover },	  { "steps", steps_run, steps_recover },
	{ "pointer", pointer_run, both_recover }, { "fields", fields_run, both_recover }, { "header", header_run, both_recover },
	{ "two", two_run, both_recover },	  { "more", more_run, both_recover },	  { "words", words_run, both_recover },
	{ "whole", whole_run, bytes_recover },	  { "begin", begin_run, bytes_recover },  { "object", object_run, object_recover },
	{ "half", half_run, bytes_recover },	  { "cells", cells_run, cells_recover },  { "changed", changed_run, changed_recover },
	{ "value", value_run, value_recover },	  { "early", early_run, bytes_recover },  { "down", down_run, bytes_recover },
	{ "less", less_run, bytes_recover },	  { "tail", tail_run, bytes_recover },	  { "others", others_run, both_recover },
	{ "late", late_run, late_recover },
};

int main(int argc, char **argv)
{
	struct pool *p = argc > 3 ? pool_open(argv[1], sizeof *p) : pool_create(argv[1], sizeof *p);

	if (argc == 3) {
		p->magic.a = MAGIC;
		persist(&p->magic.a, 8);
	}
	for (size_t i = 0; p && p->magic.a == MAGIC && i < sizeof cases / sizeof *cases; i++)
		if (strcmp(cases[i].name, argv[2]) == 0)
			(argc > 3 ? cases[i].recover : cases[i].run)(p);
	return 0;
}
