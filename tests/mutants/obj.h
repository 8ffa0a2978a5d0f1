/* A libpmemobj pool whose root begins with a signature, the last thing that its creation stores. A
 * pool without it is incomplete: its creation was interrupted and begins again. Also a census of a
 * pool's objects, with which links are checked. */
#ifndef OBJ_H
#define OBJ_H

#include <errno.h>
#include <fcntl.h>
#include <libpmemobj.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "driver.h"

#define PM_FLUSH(addr, len_bytes) pmemobj_flush(pop, addr, len_bytes)
#define PM_DRAIN() pmemobj_drain(pop)
#define PM_PERSIST(addr, len_bytes) pmemobj_persist(pop, addr, len_bytes)
#include "mutant.h"

/* libpmemobj cannot open the file: has it ever contained a complete pool? */
static inline bool obj_has_signature(const char *path, uint64_t signature)
{
	int fd = open(path, O_RDONLY);
	bool is_found = false;
	struct stat st;
	void *content;

	if (fd < 0 || fstat(fd, &st) != 0)
		die(path);
	if (st.st_size > 0) {
		content = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
		if (content == MAP_FAILED)
			die("cannot read the pool");
		is_found = memmem(content, (size_t)st.st_size, &signature, sizeof signature) != NULL;
		munmap(content, (size_t)st.st_size);
	}
	close(fd);
	return is_found;
}

static inline PMEMobjpool *obj_create(const char *path, const char *layout)
{
	int fd = open(path, O_RDWR | O_CREAT, 0666);
	PMEMobjpool *pop;

	/* removes what an interrupted creation left */
	if (fd < 0 || ftruncate(fd, 0) != 0 || posix_fallocate(fd, 0, PMEMOBJ_MIN_POOL) != 0 || fsync(fd) != 0)
		die(path);
	close(fd);
	pop = pmemobj_create(path, layout, 0, 0666);
	if (!pop)
		die(pmemobj_errormsg());
	return pop;
}

/* NULL with a reason in *why if the pool is wrong; NULL without a reason if there is none and it
 * may not be created. The caller checks the signature. */
static inline PMEMobjpool *obj_open(const char *path, const char *layout, uint64_t signature, bool may_write,
				    const char **why)
{
	bool is_there = access(path, F_OK) == 0;
	PMEMobjpool *pop;
	struct stat st;

	/* libpmemobj 1.12 dies of SIGBUS when it opens an empty file */
	if (is_there && stat(path, &st) == 0 && st.st_size == PMEMOBJ_MIN_POOL) {
		pop = pmemobj_open(path, layout);
		if (pop)
			return pop;
	}
	if (is_there && obj_has_signature(path, signature)) {
		*why = "libpmemobj cannot open the pool";
		return NULL;
	}
	return may_write ? obj_create(path, layout) : NULL;
}

/* ---- census ---- */

struct census {
	uint64_t *offsets; /* of all objects of one type */
	bool *is_met;
	size_t n, nmet;
};

static inline void census_take(struct census *c, PMEMobjpool *pop, uint64_t type_num)
{
	PMEMoid oid;

	*c = (struct census){ NULL, NULL, 0, 0 };
	for (oid = POBJ_FIRST_TYPE_NUM(pop, type_num); !OID_IS_NULL(oid); oid = POBJ_NEXT_TYPE_NUM(oid)) {
		c->offsets = need(realloc(c->offsets, (c->n + 1) * sizeof *c->offsets));
		c->offsets[c->n++] = oid.off;
	}
	c->is_met = need(calloc(c->n + 1, sizeof *c->is_met));
}

static inline void census_release(struct census *c)
{
	free(c->offsets);
	free(c->is_met);
}

/* Notes a link to this object; same_pool is any object of the pool. Gives what is wrong, or
 * NULL. */
static inline const char *census_meet(struct census *c, PMEMoid oid, PMEMoid same_pool)
{
	for (size_t i = 0; i < c->n; i++) {
		if (c->offsets[i] != oid.off || oid.pool_uuid_lo != same_pool.pool_uuid_lo)
			continue;
		if (c->is_met[i])
			return "an object is met twice";
		c->is_met[i] = true;
		c->nmet++;
		return NULL;
	}
	return "a link leads to no object";
}

static inline const char *census_end(const struct census *c)
{
	return c->nmet == c->n ? NULL : "an object is allocated, but nothing leads to it";
}

#endif
