/*
 * cached - a small in-memory cache with a line protocol.
 *
 * Built with WITH_PM, and started with -p FILE, the items live in a file on
 * persistent memory and survive a restart. Without -p they live on the heap.
 */
#ifndef CACHED_H
#define CACHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_MAX_LENGTH 39
#define DATA_MAX_LENGTH 119
#define ITEMS_MAX 16

#define ITEM_FREE 0
#define ITEM_LINKED 1

/* One item. The first cache line is the header, the body follows. */
typedef struct item {
	uint32_t it_flags;     /* ITEM_FREE or ITEM_LINKED */
	uint32_t nbytes;       /* length of data */
	uint64_t cas;          /* of the last store, grows with every one */
	uint64_t exptime;      /* 0: never; not part of the checksum */
	char key[KEY_MAX_LENGTH + 1];
	char data[DATA_MAX_LENGTH + 1];
	uint64_t sum;          /* over cas, key and data */
} __attribute__((aligned(64))) item;

/* What the store begins with. */
struct store {
	uint64_t magic;
	uint64_t oldest_live;  /* items with a smaller or equal cas are flushed */
	char pad[48];
	item items[ITEMS_MAX];
};

struct settings {
	bool pm;               /* items are on persistent memory */
	const char *path;
	int verbose;
};

extern struct settings settings;

/* items.c */
int items_init(void);
item *do_item_get(const char *key);
item *do_item_alloc(const char *key, const char *data, size_t nbytes);
void do_item_link(item *it);
void do_item_replace(item *it, item *new_it);
void do_item_unlink(item *it);
void do_item_touch(item *it, uint64_t exptime);
void do_flush_all(void);
int items_check(void);

#endif
