/* A server with a feature macro and items that may or may not be persistent. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tests/fix/ways/machine.h"

#define ITEM_PM 4
#define item_member_save(it, m) pm_save(&(it)->m, sizeof((it)->m))

struct item {
	struct item *next, *prev;
	uint32_t flags, nbytes;
	uint64_t time;
	char data[];
};

static struct settings {
	bool pm_enabled;
} settings;

void enable(void);
void enable(void)
{
	settings.pm_enabled = true;
}

#ifdef USE_PM_OF_ANOTHER_KIND
#error "not here"
#else
static void pm_save(const void *from, size_t len)
{
	for (uintptr_t at = (uintptr_t)from & ~(uintptr_t)63; at < (uintptr_t)from + len; at += 64)
		MACHINE_FLUSH(at);
	MACHINE_FENCE();
}
#endif

void item_link(struct item *it, struct item *head);
void item_link(struct item *it, struct item *head)
{
	it->next = head;
	if (it->flags & ITEM_PM)
		item_member_save(it, next);
	it->time = 3;
	if (it->flags & ITEM_PM)
		item_member_save(it, time);
}

void item_touch(struct item *it, uint64_t now);
void item_touch(struct item *it, uint64_t now)
{
	it->time = now; /* BUG: missing-flush-fence */
}

void item_fill(struct item *it, const char *text);
void item_fill(struct item *it, const char *text)
{
	memcpy(it->data, text, it->nbytes); /* BUG: missing-flush-fence */
}

void item_clear(struct item *it);
void item_clear(struct item *it)
{
	memset(it->data, 0, it->nbytes);
	if (settings.pm_enabled)
		pm_save(it->data, it->nbytes);
}
