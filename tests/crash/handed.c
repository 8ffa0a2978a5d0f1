/* An object is allocated where another one was, which had a zero in it. Whoever relies on that zero, or makes a new one durable too late, loses nothing as long as the old zero is there.
 *
 *	handed raw|obj HOW POOL [check]
 *
 * HOW: zeroed, the object is durable before it is reachable; late, its second word is zeroed in time and made durable too late; relied, it is not zeroed at all; twice, the same in
 * one of two objects. The checker fails if a reachable object has something in its second word. The allocator of raw is this program itself, which announces what it hands out. */
#include "tests/crash/pm.h"

#include <libpmemobj.h>
#include <valgrind/valgrind.h>

#define RAW_BYTES 8192
#define BIG_BYTES 1500000 /* a small pool has room for a few of these */
#define ROUNDS 8

struct object {
	uint64_t value;
	char rest[LINE_BYTES]; /* libpmemobj itself may leave something in the first line */
	uint64_t extra;
};

static int is_how(const char *how, const char *name)
{
	return strcmp(how, name) == 0;
}

static void fill(struct object *o, const char *how, uint64_t *reachable, uint64_t where)
{
	o->value = 7;
	if (!is_how(how, "relied"))
		o->extra = 0; /* too late */
	persist(&o->value, is_how(how, "late") ? sizeof o->value : sizeof *o);
	*reachable = where;
	persist(reachable, sizeof *reachable);
	persist(o, sizeof *o);
}

/* ---- raw ---- */

struct raw {
	uint64_t reachable[2]; /* offsets in the pool */
	char rest[4096 - 16];
	struct object objects[4];
};

static struct object *raw_alloc(struct raw *r, int i)
{
	VALGRIND_MALLOCLIKE_BLOCK(&r->objects[i], sizeof(struct object), 0, 0); /* handed out */
	return &r->objects[i];
}

static void raw_run(const char *path, const char *how)
{
	struct raw *r = pool_create(path, RAW_BYTES);
	struct object *o[2] = { raw_alloc(r, 0), raw_alloc(r, 2) };

	for (int i = 0; i < 2; i++) {
		o[i]->value = 1;
		persist(o[i], sizeof *o[i]);
		VALGRIND_FREELIKE_BLOCK(o[i], 0);
	}
	for (int i = 0; i < 2; i++) {
		raw_alloc(r, 2 * i);
		PMEND_ROI_BEGIN();
		fill(o[i], is_how(how, "twice") && i == 1 ? "relied" : is_how(how, "twice") ? "zeroed" : how, &r->reachable[i], (uint64_t)((char *)o[i] - (char *)r));
		PMEND_ROI_END();
	}
}

static void raw_check(const char *path)
{
	const struct raw *r = pool_open(path, RAW_BYTES);

	for (int i = 0; r && i < 2; i++)
		if (r->reachable[i])
			CHECK(((const struct object *)((const char *)r + r->reachable[i]))->extra == 0);
}

/* ---- libpmemobj ---- */

struct root {
	PMEMoid object;
	uint64_t reachable;
};

static struct root *obj_root(PMEMobjpool *p)
{
	return pmemobj_direct(pmemobj_root(p, sizeof(struct root)));
}

static void obj_run(const char *path, const char *how)
{
	PMEMobjpool *p = pmemobj_create(path, "handed", PMEMOBJ_MIN_POOL, 0600);
	struct object *o = NULL;
	struct root *r;

	CHECK(p);
	r = obj_root(p);
	for (int i = 0; i < ROUNDS; i++) {
		CHECK(pmemobj_alloc(p, &r->object, BIG_BYTES, 1, NULL, NULL) == 0); /* handed out */
		o = pmemobj_direct(r->object);
		CHECK(o);
		if (i == ROUNDS - 1)
			break;
		memset(o, 0, sizeof *o);
		o->value = 1;
		persist(o, sizeof *o);
		pmemobj_free(&r->object);
	}
	PMEND_ROI_BEGIN();
	fill(o, how, &r->reachable, r->object.off);
	PMEND_ROI_END();
	pmemobj_close(p);
	CHECK(pmemobj_check(path, "handed") == 1);
}

static void obj_check(const char *path)
{
	PMEMobjpool *p = pmemobj_open(path, "handed");
	struct root *r = p ? obj_root(p) : NULL;

	CHECK(p);
	if (r->reachable)
		CHECK(((struct object *)((char *)p + r->reachable))->extra == 0);
	pmemobj_close(p);
}

int main(int argc, char **argv)
{
	const int is_raw = argc > 1 && is_how(argv[1], "raw");

	CHECK(argc >= 4);
	if (argc > 4)
		(is_raw ? raw_check : obj_check)(argv[3]);
	else
		(is_raw ? raw_run : obj_run)(argv[3], argv[2]);
	return 0;
}
