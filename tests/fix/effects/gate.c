/* Changes that would take something away, and beside them changes that would not. A comment that begins with a case's name says what the case does:
 * `NAME -` removes its line, `NAME + CODE` becomes CODE, `NAME: refused WORDS` or `NAME: allowed` is what the gate must say. */
#include <libpmemobj.h>
#include <stdio.h>
#include <string.h>

#include "tests/fix/effects/gate.h"

/* The store's condition is the flush's. */
void condition(struct item *it);
void condition(struct item *it)
{
	if (it->next)
		it->next->prev = it->prev;
	/* outside + keep(&it->next->prev, 8); */ /* outside: refused may be NULL on some path */
	it->key = 0;
	keep(&it->key, 8);
	/* inside + if (it->next) keep(&it->next->prev, 8); */ /* inside: allowed */
}

/* The same, flushed by the caller. */
static void unlink_item(struct item *it)
{
	if (it->next)
		it->next->prev = it->prev;
}

void erase(struct item *it);
void erase(struct item *it)
{
	unlink_item(it);
	/* caller + keep(&it->next->prev, 8); */ /* caller: refused may be NULL on some path */
}

/* An atomic store, a load, and what tells what it found: each follows its pointer, and stores there, but nowhere else. */
static void set_word(uint64_t *at, uint64_t value)
{
	__atomic_store_n(at, value, __ATOMIC_RELEASE);
}

void atomically(struct item *it);
void atomically(struct item *it)
{
	set_word(&it->next->count, 1);
	/* atomic + keep(&it->next->count, 8); */ /* atomic: allowed */
	/* atomic_other + keep(it->prev, 8); */ /* atomic_other: refused may be NULL on some path */
	it->ops->done();
}

uint64_t loaded(struct item *it);
uint64_t loaded(struct item *it)
{
	uint64_t was = __atomic_load_n(&it->prev->count, __ATOMIC_ACQUIRE);

	it->key = was;
	/* atomic_load + keep(&it->prev->key, 8); */ /* atomic_load: allowed */
	return was;
}

int exchanged(struct item *it);
int exchanged(struct item *it)
{
	uint64_t expected = 0;

	it->key = 1;
	/* atomic_too_early + keep(it, sizeof *it); */ /* atomic_too_early: refused what line */
	__atomic_compare_exchange_n(&it->count, &expected, 1, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
	keep(it, sizeof *it); /* atomic_too_early - */
	return expected == 0;
}

/* What is called through a pointer of a structure may store to the object. */
void callback(struct item *it);
void callback(struct item *it)
{
	/* before_callback + keep(it, sizeof *it); */ /* before_callback: refused what line */
	it->ops->fill(it);
	keep(it, sizeof *it); /* before_callback - */ /* callback_removed - */ /* callback_removed: refused what line */
	it->ops->done();
	/* widened + keep(it, 2 * sizeof *it); */ /* widened: allowed */
}

#define SET(it, n) ((it)->key = (n))
#define KEEP(it, member) keep(&(it)->member, sizeof(it)->member)
void by_macro(struct item *it);
void by_macro(struct item *it)
{
	SET(it, 1);
	KEEP(it, key); /* macro - */ /* macro: refused what line */
	it->count = 1;
	/* macro + KEEP(it, key); */
	KEEP(it, count);
	/* macro_again + KEEP(it, key); */ /* macro_again: allowed */
}

/* Behind the loop, only the last one is flushed. */
void loop(struct item *it, unsigned n);
void loop(struct item *it, unsigned n)
{
	unsigned i;

	for (i = 0; i < n; i++) {
		it[i].key = i;
		keep(&it[i].key, 8); /* loop - */ /* loop: refused what line */
	}
	/* loop + keep(&it[n - 1].key, 8); */
	printf("done\n");
}

int early(struct item *it, int is_full);
int early(struct item *it, int is_full)
{
	it->key = 3;
	keep(&it->key, 8); /* early - */
	if (is_full)
		return -1; /* early: refused what line */
	/* early + keep(&it->key, 8); */
	return 0;
}

int by_goto(struct item *it, int is_full);
int by_goto(struct item *it, int is_full)
{
	int result = -1;

	it->key = 3;
	keep(&it->key, 8); /* goto - */
	if (is_full)
		goto out; /* goto: refused what line */
	/* goto + keep(&it->key, 8); */
	result = 0;
out:
	/* goto_out + keep(&it->count, 8); */ /* goto_out: allowed */
	return result;
}

void by_switch(struct item *it, int kind);
void by_switch(struct item *it, int kind)
{
	it->key = 3;
	keep(&it->key, 8); /* switch - */ /* cases - */ /* switch: refused what line */ /* cases: allowed */
	switch (kind) {
	case 1:
		/* switch + keep(&it->key, 8); */
		/* cases + keep(&it->key, 8); */
		break;
	default:
		/* cases + keep(&it->key, 8); */
		break;
	}
}

/* Each round may store to what the one before flushed. */
void recursion(struct item *it, int depth);
void recursion(struct item *it, int depth)
{
	it->key += depth;
	/* recursion + keep(&it->key, 8); */ /* recursion: refused what line */
	if (depth)
		recursion(it, depth - 1);
	keep(&it->key, 8); /* recursion - */
	it->ops->done();
}

void in_header(struct item *it);
void in_header(struct item *it)
{
	/* header + keep(&it->count, 8); */ /* header: refused what line */
	item_count(it);
	keep(&it->count, 8); /* header - */
}

void by_alias(struct item *it);
void by_alias(struct item *it)
{
	struct item *same = it;

	it->key = 1;
	/* alias + keep(&it->key, 8); */ /* alias: refused what line */
	same->key = 2;
	keep(&it->key, 8); /* alias - */ /* same - */ /* same: allowed */
	/* same + keep(&same->key, 8); */
}

/* One of two callers flushes now. */
static void set_key(struct item *it)
{
	it->key = 4;
	keep(&it->key, 8); /* one_caller - */ /* both_callers - */ /* one_caller: refused what line */
}

void first_caller(struct item *it);
void first_caller(struct item *it)
{
	set_key(it);
	/* one_caller + keep(&it->key, 8); */
	/* both_callers + keep(&it->key, 8); */ /* both_callers: allowed */
}

void second_caller(struct item *it);
void second_caller(struct item *it)
{
	set_key(it);
	/* both_callers + keep(&it->key, 8); */
}

/* What was answered must be fenced before. */
void answer(struct item *it);
void answer(struct item *it)
{
	it->key = 5;
	write_back(&it->key, 8);
	wait_for_pm(); /* fence - */ /* fence: refused what line */
	printf("stored\n");
	/* fence + wait_for_pm(); */
}

/* A range that is logged after the store is not undone. */
void transaction(struct item *it);
void transaction(struct item *it)
{
	pmemobj_tx_add_range_direct(it, sizeof *it); /* log - */ /* log: refused would not be logged */
	it->key = 6;
	/* log + pmemobj_tx_add_range_direct(it, sizeof *it); */
	it->count = 6;
}
