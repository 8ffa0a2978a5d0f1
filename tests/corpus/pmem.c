/* libpmem: the calls that do half of the work. */
#include <libpmem.h>

#include "corpus.h"

static void flush_without_drain(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	pmem_flush(&p->a, 8);
}

static void flush_and_drain(struct pm *p)
{
	p->a = 1;
	p->c = 2;
	pmem_flush(&p->a, 8);
	pmem_flush(&p->c, 8);
	pmem_drain();
}

static void drain_without_flush(struct pm *p)
{
	p->a = 1; /* BUG: missing-flush */
	pmem_drain(); /* WARNING amd64: redundant-fence */
}

static void nothing(struct pm *p)
{
	p->a = 1; /* BUG: missing-flush-fence */
}

static void persist_less_than_was_stored(struct pm *p)
{
	memset(p->text, 'x', 200); /* CAUSED: missing-flush */
	pmem_persist(p->text, 100); /* BUG: short-flush */
}

static void persist_more_than_was_stored(struct pm *p)
{
	p->text[0] = 'x';
	pmem_persist(p->text, sizeof p->text); /* BUG: flush-clean */
}

static void save(const void *addr, size_t len_bytes)
{
	pmem_persist(addr, len_bytes);
}

/* Of an object, two lines of three have changed, and then none. */
static void persist_an_object(struct pm *p)
{
	p->a = p->c = p->d = 1;
	save(p, 3 * LINE_BYTES);
	p->a = p->d = 2;
	save(p, 3 * LINE_BYTES);
	save(p, 3 * LINE_BYTES); /* BUG: flush-clean */
}

static void persist_twice(struct pm *p)
{
	p->a = 1;
	pmem_persist(&p->a, 8);
	pmem_persist(&p->a, 8); /* BUG: flush-clean */
}

static void flush_twice(struct pm *p)
{
	p->a = 1;
	pmem_flush(&p->a, 8);
	pmem_persist(&p->a, 8); /* BUG: redundant-flush */
}

static void copy_without_drain(struct pm *p)
{
	CHECK(pmem_memcpy_nodrain(p->text, "short", 6)); /* BUG: missing-fence */
}

static void long_copy_without_drain(struct pm *p)
{
	char text[256] = "not so short";

	CHECK(pmem_memcpy(p->text, text, sizeof text, PMEM_F_MEM_NONTEMPORAL | PMEM_F_MEM_NODRAIN)); /* BUG: missing-fence */
}

static void copy_without_flush(struct pm *p)
{
	CHECK(pmem_memcpy(p->text, "short", 6, PMEM_F_MEM_NOFLUSH)); /* BUG: missing-flush-fence */
}

static void copy_and_drain(struct pm *p)
{
	pmem_memcpy_nodrain(p->text, "short", 6);
	pmem_memset_nodrain(p->text + 64, 'x', 256);
	pmem_drain();
}

static void persist_after_a_copy_that_persists(struct pm *p)
{
	pmem_memcpy_persist(p->text, "short", 6);
	pmem_persist(p->text, 6); /* BUG: flush-clean */
}

int main(int argc, char **argv)
{
	size_t len_bytes;
	int is_pmem;

	CHECK(argc == 2 && pmem_map_file(argv[1], POOL_BYTES, PMEM_FILE_CREATE, 0666, &len_bytes, &is_pmem) && is_pmem);
	return RUN_CASES(argv, flush_without_drain, flush_and_drain, drain_without_flush, nothing, persist_less_than_was_stored,
			 persist_more_than_was_stored, persist_an_object, persist_twice, flush_twice, copy_without_drain, long_copy_without_drain,
			 copy_without_flush, copy_and_drain, persist_after_a_copy_that_persists);
}
