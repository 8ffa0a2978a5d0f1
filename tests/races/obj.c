/* XFDetector's Figures 1 and 2 on libpmemobj, and the first three of its new bugs (section 6.3.2) rebuilt in small; creation.c has the fourth. A pool is
 * made first, without being recorded.
 *	obj POOL create
 *	obj POOL list|array|map|server|scan [recover|recover_alt] [broken]	without "recover": the run to be recorded */
#include <fcntl.h>
#include <libpmemobj.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pmend.h"

#define LOGS_BYTES 65536
#define APART(n) char apart_##n[64] /* the next member is in another line */

struct node {
	uint64_t value;
	PMEMoid next;
};

/* Figure 14 a: the state of a hash table, of which the first three are set when it is created. */
struct map {
	volatile uint64_t seed, fun_a, fun_b;
	APART(1);
	volatile uint64_t count;
};

struct root {
	PMEMoid head;
	APART(1);
	volatile uint64_t length;
	APART(2);
	volatile uint64_t valid;
	APART(3);
	volatile uint64_t backup_index;
	volatile uint64_t backup_value;
	APART(4);
	volatile uint64_t array[8];
	APART(5);
	PMEMoid map;
	APART(6);
	volatile uint64_t mode, nentries;
};

static PMEMobjpool *g_pool;
static struct root *g_root;
static int g_is_broken;

static void persist(const volatile void *addr, size_t len_bytes)
{
	pmemobj_persist(g_pool, (const void *)addr, len_bytes);
}

/* ---- Figure 1: the broken list does not log its length ---- */

static void list_append(uint64_t value)
{
	TX_BEGIN(g_pool) {
		PMEMoid oid = pmemobj_tx_zalloc(sizeof(struct node), 1);
		struct node *n = pmemobj_direct(oid);

		n->value = value;
		n->next = g_root->head;
		pmemobj_tx_add_range_direct(&g_root->head, sizeof g_root->head);
		if (!g_is_broken)
			pmemobj_tx_add_range_direct((void *)&g_root->length, sizeof g_root->length);
		g_root->head = oid;
		g_root->length++; /* UNLOGGED: list */
	} TX_END
}

static void list_run(void)
{
	list_append(2);
}

static void list_recover(void)
{
	if (g_root->length > 0 && !OID_IS_NULL(g_root->head)) /* a race, which follows from that */
		printf("%lu\n", ((struct node *)pmemobj_direct(g_root->head))->value);
}

static void list_recover_alt(void)
{
	uint64_t count = 0;

	for (PMEMoid oid = g_root->head; !OID_IS_NULL(oid); oid = ((struct node *)pmemobj_direct(oid))->next)
		count++;
	g_root->length = count;
	persist(&g_root->length, sizeof g_root->length);
	list_recover();
}

/* ---- Figure 2: the broken backup is valid when it is not, and the other way round ---- */

static void array_update(uint64_t index, uint64_t value)
{
	g_root->backup_index = index;
	g_root->backup_value = g_root->array[index];
	persist(&g_root->backup_index, 16);
	g_root->valid = !g_is_broken;
	persist(&g_root->valid, 8);
	g_root->array[index] = value;
	persist(&g_root->array[index], 8);
	g_root->valid = g_is_broken;
	persist(&g_root->valid, 8);
}

static void array_run(void)
{
	PMEND_COMMIT_VAR(&g_root->valid, sizeof g_root->valid);
	array_update(1, 10);
	array_update(2, 20);
}

static void array_recover(void)
{
	if (g_root->valid) {
		uint64_t index = g_root->backup_index; /* SEMANTIC: array */
		uint64_t value = g_root->backup_value; /* SEMANTIC: array */

		g_root->array[index] = value;
		persist(&g_root->array[index], 8);
	}
	for (int i = 0; i < 8; i++)
		printf("%lu ", g_root->array[i]); /* SEMANTIC: array */
}

/* ---- bugs 1 and 2: the map is published before it is made; its count never is ---- */

static int map_construct(PMEMobjpool *pool, void *ptr, void *arg)
{
	struct map *m = ptr;

	(void)arg;
	*m = (struct map){ .seed = 3, .fun_a = 5, .fun_b = 7 };
	pmemobj_persist(pool, m, sizeof *m);
	return 0;
}

static void map_run(void)
{
	struct map *m;

	if (!g_is_broken) {
		if (pmemobj_alloc(g_pool, &g_root->map, sizeof *m, 2, map_construct, NULL) != 0)
			exit(2);
		return;
	}
	if (pmemobj_alloc(g_pool, &g_root->map, sizeof *m, 2, NULL, NULL) != 0)
		exit(2);
	m = pmemobj_direct(g_root->map);
	m->seed = 3;
	m->fun_a = 5;
	m->fun_b = 7;
	persist(m, 24);
}

static void map_recover(void)
{
	struct map *m = pmemobj_direct(g_root->map);

	if (!m)
		return;
	printf("%lu\n", m->seed); /* RACE: map */ /* UNINITIALISED: map */
	printf("%lu\n", m->count); /* UNINITIALISED: map */
}

/* ---- bug 3: a server sets up its pool without a transaction ---- */

static void server_run(void)
{
	if (g_is_broken) {
		g_root->mode = 2;
		g_root->nentries = 1;
		persist(&g_root->mode, 16);
		return;
	}
	TX_BEGIN(g_pool) {
		pmemobj_tx_add_range_direct((void *)&g_root->mode, 16);
		g_root->mode = 2;
		g_root->nentries = 1;
	} TX_END
}

static void server_recover(void)
{
	if (g_root->mode == 2) /* this one could be meant to tell that the other is there: not reported */
		printf("%lu\n", g_root->nentries); /* RACE: server */
}

/* ---- */

/* ---- a program that looks into the file itself: libpmemobj stands for what it stored for itself ---- */

static void scan_run(void)
{
	if (pmemobj_zalloc(g_pool, &g_root->map, sizeof(struct map), 1) != 0)
		exit(1);
}

/* Is there something in the file? At its beginning, libpmemobj keeps logs. */
static int scan(const char *path)
{
	int fd = open(path, O_RDONLY);
	const volatile uint64_t *content;
	uint64_t all = 0;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return 1;
	content = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
	if (content == MAP_FAILED)
		return 1;
	for (size_t i = 0; i < LOGS_BYTES / sizeof *content && i < (size_t)st.st_size / sizeof *content; i++)
		all = all * 31 + content[i]; /* RACE: scan */
	printf("%lx\n", all);
	return all == 0;
}

static void nothing(void)
{
}

static const struct {
	const char *name;
	void (*run)(void), (*recover)(void);
} parts[] = {
	{ "list", list_run, list_recover },
	{ "array", array_run, array_recover },
	{ "map", map_run, map_recover },
	{ "server", server_run, server_recover },
	{ "scan", scan_run, nothing },
	{ "create", nothing, nothing },
};

int main(int argc, char **argv)
{
	int is_recovery = argc > 3 && strncmp(argv[3], "recover", 7) == 0;
	size_t i = 0;

	while (strcmp(parts[i].name, argv[2]) != 0)
		if (++i == sizeof parts / sizeof *parts)
			return 2;
	if (is_recovery && strcmp(argv[2], "scan") == 0)
		return scan(argv[1]);
	g_is_broken = argc > 3 && strcmp(argv[argc - 1], "broken") == 0;
	g_pool = is_recovery || parts[i].run != nothing ? pmemobj_open(argv[1], "races") : pmemobj_create(argv[1], "races", PMEMOBJ_MIN_POOL, 0600);
	if (!g_pool) {
		fprintf(stderr, "%s\n", pmemobj_errormsg());
		return 1;
	}
	g_root = pmemobj_direct(pmemobj_root(g_pool, sizeof *g_root));
	PMEND_ROI_BEGIN();
	if (is_recovery && strcmp(argv[3], "recover_alt") == 0)
		list_recover_alt();
	else if (is_recovery)
		parts[i].recover();
	else
		parts[i].run();
	PMEND_ROI_END();
	pmemobj_close(g_pool);
	return 0;
}
