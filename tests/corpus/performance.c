/* Work that achieves nothing. */
#include "corpus.h"

static void flushed_twice(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	flush_line(&p->a); /* BUG: redundant-flush */
	fence();
}

static void two_fields_one_line(struct pm *p)
{
	p->a = 1;
	p->b = 2;
	flush_line(&p->a);
	flush_line_alt(&p->b); /* BUG: redundant-flush */
	fence();
}

static void two_fields_two_lines(struct pm *p)
{
	p->a = 1;
	p->c = 2;
	flush_line(&p->a);
	flush_line(&p->c);
	fence();
}

static void stored_to_in_between(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	p->b = 2;
	flush_line(&p->b);
	fence();
}

static void persisted_twice(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	fence();
	flush_line(&p->a); /* BUG: flush-clean */
	fence();
}

static void never_stored_to(struct pm *p)
{
	flush_line(&p->d); /* BUG: flush-clean */
	fence();
}

static void more_than_was_stored(struct pm *p)
{
	p->text[0] = 'x';
	for (int i = 0; i < 4; i++)
		flush_line(&p->text[i * LINE_BYTES]); /* BUG: flush-clean */
	fence();
}

/* ---- a call flushes an object, of which some lines are clean ---- */

static __attribute__((noinline)) void flush_range(const void *addr, size_t len_bytes)
{
	for (uintptr_t at = (uintptr_t)addr & ~(uintptr_t)(LINE_BYTES - 1); at < (uintptr_t)addr + len_bytes; at += LINE_BYTES)
		flush_line(at);
}

static inline void persist_range(const void *addr, size_t len_bytes)
{
	flush_range(addr, len_bytes);
	fence();
}

static __attribute__((noinline)) void flush_backwards(const void *addr, size_t len_bytes)
{
	for (uintptr_t at = (uintptr_t)addr + len_bytes; at > (uintptr_t)addr;)
		flush_line(at -= LINE_BYTES);
}

static void half_of_it_changed(struct pm *p)
{
	memset(p, 1, sizeof *p);
	persist_range(p, sizeof *p);
	p->a = 2;
	p->text[0] = p->text[64] = p->text[256] = 2;
	persist_range(p, sizeof *p);
	p->c = 3;
	p->d = 3;
	flush_backwards(p, 4 * LINE_BYTES);
	fence();
}

static void little_of_it_changed(struct pm *p)
{
	memset(p, 1, sizeof *p);
	persist_range(p, sizeof *p);
	p->c = 2;
	persist_range(p, sizeof *p); /* BUG: flush-clean */
}

/* One of two lines, which never changes here, however often this is done. */
static void same_half_changes(struct pm *p)
{
	for (int i = 0; i < 4; i++) {
		p->c = i;
		persist_range(&p->c, LINE_BYTES + 1); /* BUG: flush-clean */
	}
}

/* Each of them changes once. */
static void other_half_changes(struct pm *p)
{
	for (int i = 0; i < 4; i++) {
		*(i < 3 ? &p->c : &p->d) = i;
		persist_range(&p->c, LINE_BYTES + 1);
	}
}

static void none_of_it_changed(struct pm *p)
{
	memset(p->text, 1, sizeof p->text);
	persist_range(p->text, sizeof p->text);
	flush_range(p->text, sizeof p->text); /* BUG: flush-clean */
	fence();
}

/* Stores, too: what flushes for nothing is its call. */
static __attribute__((noinline)) void set_text(struct pm *p, char c)
{
	if (p->text[0] != c)
		memset(p->text, c, sizeof p->text);
	persist_range(p->text, sizeof p->text); /* BUG: flush-clean */
}

static void set_again(struct pm *p)
{
	set_text(p, 1);
	set_text(p, 1);
}

/* Two calls, in one of which all is clean, although their lines are neighbours. */
static void neighbours(struct pm *p)
{
	memset(p->text, 1, sizeof p->text);
	flush_range(p->text, sizeof p->text);
	flush_range(&p->d, 8); /* BUG: flush-clean */
	fence();
}

/* Never advances. */
static __attribute__((noinline)) void flush_stuck(const void *addr, size_t len_bytes)
{
	for (size_t i = 0; i < len_bytes; i += LINE_BYTES)
		flush_line(addr); /* BUG: redundant-flush */
}

static void stuck(struct pm *p)
{
	p->text[0] = 1;
	flush_stuck(p->text, sizeof p->text);
	fence();
	flush_stuck(p->text, sizeof p->text); /* BUG: flush-clean */
	fence();
}

static void fenced_twice(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	fence();
	fence(); /* WARNING: redundant-fence */
}

static void other_fence_after_a_fence(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	fence();
	fence_alt(); /* WARNING: redundant-fence */
}

static void fence_alone(struct pm *p)
{
	(void)p;
	fence(); /* WARNING: redundant-fence */
}

static void fence_instead_of_flush(struct pm *p)
{
	p->a = 1; /* BUG: missing-flush */
	fence(); /* WARNING: redundant-fence */
}

/* Atomic instructions are there for another reason. */
static void atomics_without_flush(struct pm *p)
{
	static atomic_int counter;

	(void)p;
	atomic_fetch_add(&counter, 1);
	atomic_fetch_add(&counter, 1);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	return RUN_CASES(argv, flushed_twice, two_fields_one_line, two_fields_two_lines, stored_to_in_between, persisted_twice,
			 never_stored_to, more_than_was_stored, half_of_it_changed, little_of_it_changed,
			 same_half_changes, other_half_changes, none_of_it_changed, set_again, neighbours, stuck, fenced_twice, other_fence_after_a_fence, fence_alone,
			 fence_instead_of_flush, atomics_without_flush);
}
