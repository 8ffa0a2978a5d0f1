/* store.c -- the file that the ledger is in */
#include <libpmem.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>

#include "ledger.h"

static void store_format(struct ledger *l)
{
	pmem_memset_nodrain(&l->naccounts, 0, sizeof(*l) - offsetof(struct ledger, naccounts));
	pmem_drain();
	l->magic = LEDGER_MAGIC;
	pmem_persist(&l->magic, sizeof(l->magic));
}

/* missing: there is no ledger yet, which is no error */
struct ledger *store_open(const char *path, int create, int *missing)
{
	struct ledger *l;
	struct stat st;
	size_t mapped;
	int is_pmem;

	*missing = 0;
	if (!create && (stat(path, &st) != 0 || (size_t)st.st_size < sizeof(*l))) {
		*missing = 1;
		return NULL;
	}
	if (create)
		l = pmem_map_file(path, sizeof(*l), PMEM_FILE_CREATE, 0666, &mapped, &is_pmem);
	else
		l = pmem_map_file(path, 0, 0, 0, &mapped, &is_pmem);
	if (l == NULL) {
		fprintf(stderr, "%s: %s\n", path, pmem_errormsg());
		return NULL;
	}
	if (!is_pmem) {
		fprintf(stderr, "%s: not persistent memory\n", path);
		pmem_unmap(l, sizeof(*l));
		return NULL;
	}
	if (l->magic != LEDGER_MAGIC) {
		if (!create) {
			*missing = 1;
			pmem_unmap(l, sizeof(*l));
			return NULL;
		}
		store_format(l);
	}
	journal_recover(l);
	return l;
}

void store_close(struct ledger *l)
{
	pmem_unmap(l, sizeof(*l));
}
