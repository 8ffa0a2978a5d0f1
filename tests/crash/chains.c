/* A hash map with chains. Its recovery walks all chains, compares and copies keys and values with the C library, and prints what is there. A node is persistent
 * before its bucket leads to it, so a crash loses the last insertion at most: it is correct.
 *
 *	PROG POOL run N | PROG POOL recover		status 1: a key or a value is not what was inserted */
#include "pm.h"

enum { BUCKETS = 16, NODES = 256, KEY_MAX = 48, POOL_BYTES = 65536 };

struct node {
	uint64_t next; /* index plus one; 0: the end */
	uint64_t number;
	char key[KEY_MAX];
	char value[128];
};

struct map {
	uint64_t buckets[BUCKETS];
	uint64_t free_list[8]; /* stored, never flushed, never read again: undecided for ever, on the page that all chains begin in */
	struct node nodes[NODES];
};

/* Of all lengths, so that the C library copies and compares them in all of its ways. */
static void key_of(char key[KEY_MAX], uint64_t i)
{
	int n = snprintf(key, KEY_MAX, "%lu-", i);

	for (uint64_t k = 0; k < i * 7 % 40; k++)
		key[n++] = (char)('a' + (i + k) % 26);
	key[n] = 0;
}

static void value_of(char value[128], uint64_t i)
{
	size_t n = 1 + i * 11 % 127;

	memset(value, 0, 128);
	memset(value, (int)('A' + i % 26), n - 1);
}

static uint32_t bucket_of(const char *key)
{
	uint32_t h = 5381;

	for (; *key; key++)
		h = h * 33 + (unsigned char)*key;
	return h % BUCKETS;
}

static void insert(struct map *m, uint64_t i)
{
	struct node *n = &m->nodes[i];
	uint64_t *bucket;

	key_of(n->key, i);
	value_of(n->value, i);
	bucket = &m->buckets[bucket_of(n->key)];
	n->number = i;
	n->next = *bucket;
	persist(n, sizeof *n);
	*(volatile uint64_t *)&m->free_list[i % 8] = i;
	*(volatile uint64_t *)bucket = i + 1;
	persist(bucket, sizeof *bucket);
}

static const struct node *find(const struct map *m, const char *key)
{
	const struct node *n;

	for (uint64_t i = m->buckets[bucket_of(key)]; i; i = n->next) {
		n = &m->nodes[i - 1];
		if (strcmp(n->key, key) == 0)
			return n;
	}
	return NULL;
}

static int recover(const struct map *m)
{
	char key[KEY_MAX], value[128], wanted[128];
	uint64_t n = 0;

	for (uint32_t b = 0; b < BUCKETS; b++) {
		for (uint64_t i = m->buckets[b]; i; i = m->nodes[i - 1].next, n++) {
			const struct node *at = &m->nodes[i - 1];

			memcpy(key, at->key, strlen(at->key) + 1);
			memcpy(value, at->value, strlen(at->value) + 1);
			value_of(wanted, i - 1);
			if (at->number != i - 1 || strcmp(value, wanted) != 0 || memcmp(at->value, wanted, strlen(wanted)) != 0)
				return 1;
			key_of(wanted, i - 1);
			if (strcmp(key, wanted) != 0 || bucket_of(key) != b || find(m, key) != at)
				return 1;
		}
	}
	printf("%lu\n", n);
	return 0;
}

int main(int argc, char **argv)
{
	struct map *m;

	_Static_assert(sizeof *m <= POOL_BYTES, "it fits");
	if (argc > 2 && strcmp(argv[2], "recover") == 0)
		return (m = pool_open(argv[1], POOL_BYTES)) ? recover(m) : 0;
	if (argc < 4)
		return 3;
	m = pool_create(argv[1], POOL_BYTES);
	for (uint64_t i = 0; i < strtoul(argv[3], NULL, 10); i++)
		insert(m, i);
	return 0;
}
