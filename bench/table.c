/* A hash table with wide entries, after the listings of SQUINT's chapter (level hashing): keys and
 * values are texts of several lines, and `valid` says whether an entry counts. Without a library.
 * Around it is tests/mutants/driver.c.
 *
 *	0	magic
 *	64	two levels of buckets: the lower one has half as many; a bucket has SLOTS entries
 *
 * insert: key and value are durable before `valid` is set. replace: the new entry is valid,
 * durably, before the old one no longer is; a crash between leaves both, of which the one with the
 * higher version counts.
 *
 * PMEND_MUTANT=K leaves out flush or fence K, and some more are the listings: 100 is insert() of
 * Listing 4.1, 101 is replace() of Listing 4.2, 103 is both, 102 is insert_ordered() of Listing 4.3
 * (the key is durable before the rest, the rest in no order). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "driver.h"
#include "raw.h"

#define PM_FLUSH(addr, len_bytes) pm_flush(addr, len_bytes)
#define PM_DRAIN() pm_drain()
#include "mutant.h"

#define MAGIC 0x31424154444e4550u
enum { KEY_BYTES = 64, VALUE_BYTES = 128, TOP = 16, BOTTOM = TOP / 2, SLOTS = 4 };
enum { LISTING_4_1 = 100, LISTING_4_2 = 101, LISTING_4_3 = 102, LISTINGS_BOTH = 103 };

struct entry {
	char key[KEY_BYTES];
	char value[VALUE_BYTES]; /* "VERSION VALUE …" */
	uint64_t valid;
};

struct bucket {
	struct entry slot[SLOTS];
};

struct head {
	uint64_t magic;
	_Alignas(LINE_BYTES) struct bucket top[TOP];
	struct bucket bottom[BOTTOM];
};

struct store {
	struct head *head;
	uint64_t version;
};

static uint64_t hash(uint64_t key, unsigned level)
{
	return (key + 1) * (level ? 0xff51afd7ed558ccdu : 0x9e3779b97f4a7c15u) >> 32;
}

static struct bucket *bucket_of(struct store *s, uint64_t key, unsigned level)
{
	return level ? &s->head->bottom[hash(key, 1) % BOTTOM] : &s->head->top[hash(key, 0) % TOP];
}

/* ---- texts: every 16 bytes tell what they belong to, so that a torn one is seen ---- */

static void key_text(char *to, uint64_t key)
{
	for (size_t i = 0; i < KEY_BYTES; i += 16)
		sprintf(to + i, "k%06u.%07u", (unsigned)(key % 1000000), (unsigned)i);
}

static void value_text(char *to, uint64_t version, uint64_t value)
{
	for (size_t i = 0; i < VALUE_BYTES; i += 16)
		sprintf(to + i, "%07u.%07u", (unsigned)(version % 10000000),
			(unsigned)(value % 10000000));
}

static bool key_read(const struct entry *e, uint64_t *key)
{
	char text[KEY_BYTES];
	unsigned n;

	if (sscanf(e->key, "k%6u.", &n) != 1)
		return false;
	key_text(text, n);
	*key = n;
	return memcmp(text, e->key, KEY_BYTES) == 0;
}

static bool value_read(const struct entry *e, uint64_t *version, uint64_t *value)
{
	char text[VALUE_BYTES];
	unsigned m, n;

	if (sscanf(e->value, "%7u.%7u", &m, &n) != 2)
		return false;
	value_text(text, m, n);
	*version = m;
	*value = n;
	return memcmp(text, e->value, VALUE_BYTES) == 0;
}

/* ---- reading ---- */

static struct entry *entry_at(struct store *s, size_t i)
{
	size_t bucket = i / SLOTS;

	return bucket < TOP ? &s->head->top[bucket].slot[i % SLOTS]
			    : &s->head->bottom[bucket - TOP].slot[i % SLOTS];
}
#define NENTRIES ((size_t)(TOP + BOTTOM) * SLOTS)

/* Of several entries of a key, the one with the highest version; NULL: none. */
static struct entry *find(struct store *s, uint64_t key)
{
	struct entry *best = NULL;
	uint64_t best_version = 0, found, version, value;

	for (unsigned i = 0; i < 2 * SLOTS; i++) {
		struct entry *e = &bucket_of(s, key, i / SLOTS)->slot[i % SLOTS];

		if (e->valid && key_read(e, &found) && found == key &&
		    value_read(e, &version, &value) && version >= best_version) {
			best = e;
			best_version = version;
		}
	}
	return best;
}

static const char *table_check(struct store *s)
{
	uint64_t key, version, value;

	for (size_t i = 0; i < NENTRIES; i++) {
		struct entry *e = entry_at(s, i);

		if (e->valid > 1)
			return "valid is neither yes nor no";
		if (!e->valid)
			continue;
		if (!e->key[0] || !key_read(e, &key))
			return "a valid entry has no whole key";
		if (!e->value[0] || !value_read(e, &version, &value))
			return "a valid entry has no whole value";
		if (bucket_of(s, key, i / SLOTS >= TOP) != (struct bucket *)(e - i % SLOTS))
			return "a key is in the wrong bucket";
	}
	return NULL;
}

static bool table_get(struct store *s, uint64_t key, uint64_t *value)
{
	const struct entry *e = find(s, key);
	uint64_t version;

	return e && value_read(e, &version, value);
}

static void table_each(struct store *s, visit_fn *visit, void *arg)
{
	for (size_t i = 0; i < NENTRIES; i++) {
		struct entry *e = entry_at(s, i);
		uint64_t key, version, value;

		if (e->valid && key_read(e, &key) && find(s, key) == e &&
		    value_read(e, &version, &value))
			visit(key, value, arg);
	}
}

/* ---- writing ---- */

static struct entry *free_slot(struct store *s, uint64_t key)
{
	for (unsigned level = 0; level < 2; level++)
		for (unsigned i = 0; i < SLOTS; i++)
			if (!bucket_of(s, key, level)->slot[i].valid)
				return &bucket_of(s, key, level)->slot[i];
	die("the table is full");
}

/* Listings 4.1 and 4.2: in no order at all. */
static void fill_unordered(struct entry *e, const char *key, const char *value)
{
	memcpy(e->key, key, KEY_BYTES);
	memcpy(e->value, value, VALUE_BYTES);
	store64(&e->valid, 1);
}

static void insert(struct entry *e, const char *key, const char *value)
{
	if (MUTANT_LACKS(LISTING_4_1) || MUTANT_LACKS(LISTINGS_BOTH)) {
		fill_unordered(e, key, value);
		pm_flush(e, sizeof *e);
		pm_drain();
		return;
	}
	memcpy(e->key, key, KEY_BYTES);
	FLUSH(1, e->key, KEY_BYTES);
	FENCE(2); /* Listing 4.3 */
	memcpy(e->value, value, VALUE_BYTES);
	if (!MUTANT_LACKS(LISTING_4_3)) {
		FLUSH(3, e->value, VALUE_BYTES);
		FENCE(4);
	}
	store64(&e->valid, 1);
	if (MUTANT_LACKS(LISTING_4_3))
		pm_flush(e->value, VALUE_BYTES);
	FLUSH(5, &e->valid, sizeof e->valid);
	FENCE(6);
}

static void replace(struct entry *e, struct entry *old, const char *key, const char *value)
{
	if (MUTANT_LACKS(LISTING_4_2) || MUTANT_LACKS(LISTINGS_BOTH)) {
		fill_unordered(e, key, value);
		store64(&old->valid, 0);
		pm_flush(e, sizeof *e);
		pm_flush(&old->valid, sizeof old->valid);
		pm_drain();
		return;
	}
	memcpy(e->key, key, KEY_BYTES);
	memcpy(e->value, value, VALUE_BYTES);
	FLUSH(7, e, KEY_BYTES + VALUE_BYTES);
	FENCE(8);
	store64(&e->valid, 1);
	FLUSH(9, &e->valid, sizeof e->valid);
	FENCE(10);
	store64(&old->valid, 0);
	FLUSH(11, &old->valid, sizeof old->valid);
	FENCE(12);
}

static void table_put(struct store *s, uint64_t key, uint64_t value)
{
	struct entry *old = find(s, key), *e = free_slot(s, key);
	char k[KEY_BYTES], v[VALUE_BYTES];

	key_text(k, key);
	value_text(v, ++s->version, value);
	if (old)
		replace(e, old, k, v);
	else
		insert(e, k, v);
}

static bool table_del(struct store *s, uint64_t key)
{
	struct entry *e = find(s, key);

	if (!e)
		return false;
	store64(&e->valid, 0);
	FLUSH(13, &e->valid, sizeof e->valid);
	FENCE(14);
	return true;
}

/* ---- creation, recovery ---- */

/* An entry that was replaced, but still counts as valid, goes. */
static void recover(struct store *s)
{
	uint64_t key, version, value;

	for (size_t i = 0; i < NENTRIES; i++) {
		struct entry *e = entry_at(s, i);

		if (!e->valid || !key_read(e, &key) || !value_read(e, &version, &value))
			continue;
		if (version > s->version)
			s->version = version;
		if (find(s, key) != e) {
			store64(&e->valid, 0);
			FLUSH(15, &e->valid, sizeof e->valid);
			FENCE(16);
		}
	}
}

static struct store *table_open(const char *path, bool may_write, const char **why)
{
	enum pool_state state = pool_state(path, MAGIC, sizeof(struct head), why);
	struct store *s;

	if (state == POOL_DAMAGED || (state == POOL_NONE && !may_write))
		return NULL;
	s = need(calloc(1, sizeof *s));
	s->head = pool_map(path, sizeof(struct head));
	if (s->head->magic == 0 && may_write) {
		store64(&s->head->magic, MAGIC);
		FLUSH(17, &s->head->magic, sizeof s->head->magic);
		FENCE(18);
	}
	if (s->head->magic == MAGIC)
		*why = table_check(s);
	else if (s->head->magic != 0)
		*why = "the magic word is wrong";
	if (s->head->magic == MAGIC && !*why) {
		recover(s);
		return s;
	}
	munmap(s->head, sizeof *s->head);
	free(s);
	return NULL;
}

static void table_close(struct store *s)
{
	munmap(s->head, sizeof *s->head);
	free(s);
}

const struct structure structure = {
	.open = table_open,
	.close = table_close,
	.put = table_put,
	.del = table_del,
	.get = table_get,
	.check = table_check,
	.each = table_each,
};
