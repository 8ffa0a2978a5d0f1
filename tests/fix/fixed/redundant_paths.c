/* What is redundant by what callees, branches and loops before it did; and what looks so, but some path or some caller needs it. */
#include <libpmem.h>
#include <stdint.h>
#include <string.h>

enum { SLOTS = 8 };

struct slot {
	uint64_t key, value;
	char text[112];
} __attribute__((aligned(64)));

struct table {
	uint64_t count, limit;
	char name[112];
	struct slot slots[SLOTS];
} __attribute__((aligned(64)));

struct entry {
	uint64_t key;
	char text[120];
} __attribute__((aligned(64)));

static struct table *table;
static int is_pm;
static void (*hook)(struct table *);

static void count_set(struct table *t, uint64_t count)
{
	t->count = count;
	pmem_persist(&t->count, sizeof t->count);
}

static void count_note(struct table *t, uint64_t count)
{
	t->count = count;
}

/* ---- by what a callee did ---- */

static void callee(struct table *t)
{
	count_set(t, 1);
}

static void callee_leaves_it(struct table *t)
{
	count_set(t, 1);
	count_note(t, 2);
	pmem_persist(t, sizeof *t); /* BUG: flush-clean, suggested: only the first line was stored to */
}

/* A second caller relies on it. */
static void renamed(struct table *t)
{
	count_set(t, 1);
	pmem_persist(t, sizeof *t); /* BUG: flush-clean, suggested: line 152 of redundant_paths.c, a caller's, may need it */
}

/* It flushes for whoever calls it. */
static void finish(struct table *t, int really)
{
	if (really)
		pmem_persist(t->name, sizeof t->name); /* BUG: flush-clean, suggested: its function stores nothing there before it */
	t->limit = 1;
	pmem_persist(&t->limit, sizeof t->limit);
}

/* ---- branches ---- */

static void both_branches(struct table *t, int more)
{
	if (more) {
		t->count = 2;
		pmem_flush(&t->count, sizeof t->count);
	} else {
		t->count = 1;
		pmem_flush(&t->count, sizeof t->count);
	}
	pmem_drain();
}

static void one_branch(struct table *t, int more)
{
	t->count = 1;
	if (more)
		pmem_flush(&t->count, sizeof t->count);
	pmem_flush(&t->count, sizeof t->count); /* BUG: redundant-flush, suggested: the store in line 87 */
	pmem_drain();
}

static void same_guard(struct table *t)
{
	t->count = 1;
	if (is_pm)
		pmem_persist(&t->count, sizeof t->count);
	memset(&table->slots[0].key, 0, 8);
	if (is_pm)
		pmem_persist(&table->slots[0].key, 8);
}

static void other_guard(struct table *t, int more)
{
	t->count = 1;
	if (more)
		pmem_persist(&t->count, sizeof t->count);
	if (is_pm)
		pmem_persist(&t->count, sizeof t->count); /* BUG: flush-clean, suggested: the store in line 108 */
}

static void fences(struct table *t, int more)
{
	t->count = 1;
	pmem_flush(&t->count, sizeof t->count);
	if (more)
		pmem_drain();
	else
		count_set(t, 2);
	if (more)
		pmem_flush(&t->limit, sizeof t->limit);
	pmem_drain(); /* BUG: redundant-fence, suggested: an earlier store or flush may need it */
}

static int jumps(struct table *t, int more)
{
	t->count = 1;
	if (more)
		goto out;
	pmem_flush(&t->count, sizeof t->count);
out:
	pmem_flush(&t->count, sizeof t->count); /* BUG: redundant-flush, suggested: the store in line 131 */
	pmem_drain();
	return more;
}

static void unknown(struct table *t)
{
	count_set(t, 1);
	hook(t);
	pmem_persist(&t->count, sizeof t->count); /* BUG: flush-clean, suggested: the store in line 145 */
}

static void callers(struct table *t)
{
	renamed(t);
	strcpy(t->name, "new");
	renamed(t);
}

/* ---- loops ---- */

static void unchanged(struct table *t)
{
	count_set(t, SLOTS);
	for (int i = 0; i < SLOTS; i++) {
		t->slots[i].key = 0;
		pmem_flush(&t->slots[i].key, sizeof t->slots[i].key);
	}
	pmem_drain();
}

static void changed(struct table *t)
{
	count_set(t, 0);
	for (int i = 0; i < SLOTS; i++) {
		pmem_flush(&t->count, sizeof t->count); /* BUG: flush-clean, suggested: the store in line 175 */
		if (t->slots[i].key)
			t->count = 1;
	}
	pmem_persist(&t->count, sizeof t->count);
}

/* The flushes before are not ordered without its fence. */
static void whole(struct table *t)
{
	for (int i = 0; i < SLOTS; i++) {
		t->slots[i].key = 1;
		t->slots[i].value = 2;
		pmem_flush(&t->slots[i], sizeof t->slots[i]);
	}
	pmem_drain(); /* BUG: redundant-flush */
}

static void some(struct table *t, uint64_t from)
{
	for (uint64_t i = 0; i < SLOTS; i++) {
		t->slots[i].key = 1;
		if (i >= from)
			pmem_flush(&t->slots[i], sizeof t->slots[i]);
	}
	pmem_persist(t->slots, sizeof t->slots); /* BUG: redundant-flush, suggested: the store in line 194 */
}

/* ---- lengths ---- */

static void long_enough(struct entry *e, const char *text, size_t len)
{
	e->key = 1;
	memcpy(e->text, text, len);
	pmem_persist(e, sizeof e->key + len);
}

static void too_short(struct entry *e, const char *text, size_t len)
{
	e->key = 1;
	memcpy(e->text, text, len);
	pmem_persist(e, len);
	pmem_flush(e->text, len); /* BUG: flush-clean, suggested: the store in line 214 */
	pmem_drain();
}

static void compiled(struct table *t)
{
	t->count = 1;
#ifdef NDEBUG
	pmem_persist(&t->count, sizeof t->count);
#endif
	t->limit = 1;
	pmem_persist(t, 16);
#ifdef NDEBUG
	t->limit = 2;
#endif
	pmem_persist(t, 16); /* BUG: flush-clean, suggested: compiled in more than one way */
}

/* ---- what is not always done ---- */

static void save(const void *p, size_t n, int now)
{
	if (now)
		pmem_persist(p, n);
}

static void save_later(const void *p, size_t n, int now)
{
	save(p, n, now);
}

static void mode_set(int mode)
{
	is_pm = mode;
}

static void maybe(struct table *t, int now)
{
	t->count = 1;
	save_later(&t->count, sizeof t->count, now);
	pmem_persist(&t->count, sizeof t->count); /* BUG: flush-clean, suggested: the store in line 254 */
	t->count = 2;
	save_later(&t->count, sizeof t->count, 1);
}

static void mode_changes(struct table *t)
{
	t->count = 1;
	if (is_pm)
		pmem_persist(&t->count, sizeof t->count);
	mode_set(1);
	if (is_pm)
		pmem_persist(&t->count, sizeof t->count); /* BUG: flush-clean, suggested: 'is_pm' may change before it */
}

static void copies(struct table *t, struct slot *from)
{
	t->slots[1].key = 1;
	pmem_flush(&t->slots[1], sizeof t->slots[1]);
	t->slots[1] = *from;
	pmem_flush(&t->slots[1].key, sizeof t->slots[1].key); /* BUG: redundant-flush, suggested: the store in line 276 */
	__atomic_store_n(&t->limit, 1, __ATOMIC_RELEASE);
	pmem_flush(&t->limit, sizeof t->limit);
	__atomic_store_n(&t->limit, 2, __ATOMIC_RELEASE);
	pmem_flush(&t->limit, sizeof t->limit); /* BUG: redundant-flush, suggested: the store in line 280 */
	pmem_drain();
}

/* The element that is written back is another one each time. */
static void moves(struct table *t, uint64_t at)
{
	t->slots[at].key = 1;
	pmem_flush(&t->slots[at].key, sizeof t->slots[at].key);
	at++;
	t->slots[at].key = 1;
	pmem_flush(&t->slots[at].key, sizeof t->slots[at].key); /* BUG: redundant-flush, suggested: the store in line 291 */
	pmem_drain();
}

int main(int argc, char **argv)
{
	struct entry *e;

	table = pmem_map_file(argv[1], sizeof *table, PMEM_FILE_CREATE, 0600, NULL, &is_pm);
	e = pmem_map_file(argv[2], sizeof *e, PMEM_FILE_CREATE, 0600, NULL, NULL);
	callee(table);
	callee_leaves_it(table);
	finish(table, argc);
	both_branches(table, argc);
	one_branch(table, argc);
	same_guard(table);
	other_guard(table, argc);
	fences(table, argc);
	unknown(table);
	callers(table);
	unchanged(table);
	changed(table);
	whole(table);
	some(table, 1);
	long_enough(e, argv[0], 8);
	too_short(e, argv[0], 8);
	compiled(table);
	maybe(table, argc);
	mode_changes(table);
	copies(table, &table->slots[0]);
	moves(table, (uint64_t)argc);
	return jumps(table, argc);
}
