/*
 * The items: a table in which every key is linked at most once.
 *
 * On persistent memory, it_flags says whether an item counts, and is written
 * last. The functions leave their last write flushed but not drained: the
 * event loop drains before it answers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cached.h"
#include "pm.h"

#define STORE_MAGIC 0x3164656863616331ULL

static struct store *store;
static uint64_t cas_id; /* last one given out */

static uint64_t item_sum(const item *it)
{
	uint64_t h = 14695981039346656037ULL ^ it->cas;
	size_t i;

	for (i = 0; i < sizeof(it->key); i++)
		h = (h ^ (unsigned char)it->key[i]) * 1099511628211ULL;
	for (i = 0; i < it->nbytes && i < sizeof(it->data); i++)
		h = (h ^ (unsigned char)it->data[i]) * 1099511628211ULL;
	return h;
}

static bool item_live(const item *it)
{
	return it->it_flags == ITEM_LINKED && it->cas > store->oldest_live;
}

item *do_item_get(const char *key)
{
	item *found = NULL;
	int i;

	for (i = 0; i < ITEMS_MAX; i++) {
		item *it = &store->items[i];

		if (!item_live(it) || strcmp(it->key, key) != 0)
			continue;
		if (!found || it->cas > found->cas)
			found = it;
	}
	return found;
}

/* Finds room for an item and fills it. It is not linked yet. */
item *do_item_alloc(const char *key, const char *data, size_t nbytes)
{
	item *it = NULL;
	int i;

	if (nbytes > DATA_MAX_LENGTH || strlen(key) > KEY_MAX_LENGTH)
		return NULL;
	for (i = 0; i < ITEMS_MAX; i++) {
		it = &store->items[i];
		if (!item_live(it))
			break;
	}
	if (i == ITEMS_MAX)
		return NULL;

	memset(it->key, 0, sizeof(it->key));
	memcpy(it->key, key, strlen(key));
	memset(it->data, 0, sizeof(it->data));
	memcpy(it->data, data, nbytes);
	it->nbytes = nbytes;
	it->exptime = 0;
	it->cas = ++cas_id;
	it->sum = item_sum(it);
	return it;
}

void do_item_link(item *it)
{
#ifdef WITH_PM
	if (settings.pm) {
		/* the item must be whole before it counts */
		pm_flush(it, sizeof(*it));
		pm_drain();
	}
#endif
	it->it_flags = ITEM_LINKED;
#ifdef WITH_PM
	if (settings.pm)
		pm_flush(&it->it_flags, sizeof(it->it_flags));
#endif
}

void do_item_unlink(item *it)
{
	it->it_flags = ITEM_FREE;
#ifdef WITH_PM
	if (settings.pm)
		pm_flush(&it->it_flags, sizeof(it->it_flags));
#endif
}

/* The new item counts before the old one goes, so one of them is there. */
void do_item_replace(item *it, item *new_it)
{
	do_item_link(new_it);
#ifdef WITH_PM
	if (settings.pm)
		pm_drain();
#endif
	do_item_unlink(it);
}

void do_item_touch(item *it, uint64_t exptime)
{
	it->exptime = exptime;
#ifdef WITH_PM
	if (settings.pm)
		pm_flush(&it->exptime, sizeof(it->exptime));
#endif
}

/*
 * Everything stored so far is gone once oldest_live is durable. The items are
 * unlinked afterwards, only to have clean slots.
 */
void do_flush_all(void)
{
	int i;

	store->oldest_live = cas_id;
#ifdef WITH_PM
	if (settings.pm)
		pm_persist(&store->oldest_live, sizeof(store->oldest_live));
#endif
	for (i = 0; i < ITEMS_MAX; i++) {
		if (store->items[i].it_flags == ITEM_FREE)
			continue;
		do_item_unlink(&store->items[i]);
	}
}

#ifdef WITH_PM
/* After a crash, a key may be linked twice: the newer one is right. */
static void items_recover(void)
{
	int i;

	cas_id = store->oldest_live;
	for (i = 0; i < ITEMS_MAX; i++) {
		item *it = &store->items[i];

		if (it->it_flags != ITEM_LINKED)
			continue;
		if (it->cas > cas_id)
			cas_id = it->cas;
		if (!item_live(it) || do_item_get(it->key) != it) {
			do_item_unlink(it);
			pm_drain();
		}
	}
}
#endif

int items_init(void)
{
#ifdef WITH_PM
	if (settings.pm) {
		store = pm_attach(settings.path, sizeof(*store));
		if (!store)
			return -1;
		if (store->magic == STORE_MAGIC) {
			items_recover();
			return 0;
		}
		/* a new file is all zeroes: only the magic is missing */
		store->magic = STORE_MAGIC;
		pm_persist(&store->magic, sizeof(store->magic));
		return 0;
	}
#endif
	store = calloc(1, sizeof(*store));
	return store ? 0 : -1;
}

/* Prints what is there. Returns the number of broken items. */
int items_check(void)
{
	int i, bad = 0;

	for (i = 0; i < ITEMS_MAX; i++) {
		const item *it = &store->items[i];

		if (!item_live(it))
			continue;
		if (it->sum != item_sum(it) || do_item_get(it->key) != it) {
			fprintf(stderr, "item %d is broken\n", i);
			bad++;
			continue;
		}
		printf("%s exp %llu: %.*s\n", it->key, (unsigned long long)it->exptime, (int)it->nbytes, it->data);
	}
	return bad;
}
