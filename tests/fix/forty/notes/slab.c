/*
 * slab.c - slots, a bitmap that says which are in use, and a list of them
 *
 * The order is always the same. To add: slot, bitmap, list. To take away:
 * list, bitmap. So a crash leaks a slot at worst, and slab_recover() takes
 * leaked slots back.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "persist.h"
#include "slab.h"

_Static_assert(sizeof(struct slot) == 2 * CACHELINE, "a slot is two lines");

static uint32_t slot_check(const struct slot *sl)
{
	uint32_t c = sl->id * 2654435761u + sl->len;
	uint32_t i;

	for (i = 0; i < sl->len && i < SLOT_TEXT; i++)
		c = (c << 5 | c >> 27) ^ (unsigned char)sl->text[i];
	return c;
}

static void slab_format(struct slab *s)
{
	uint32_t i;

	s->nslots = SLAB_SLOTS;
	CLWB(&s->nslots);
	s->head = SLAB_NONE;
	s->last_id = 0;
	CLWB(&s->head);
	memset(s->used, 0, sizeof(s->used));
	s->used[0] = 1; /* SLAB_NONE */
	CLWB(s->used);
	/* the file may have been something else before */
	for (i = 1; i < SLAB_SLOTS; i++) {
		s->slot[i].next = SLAB_NONE;
		s->slot[i].id = 0;
		CLWB(&s->slot[i]);
	}
	SFENCE();
	STORE_PERSIST(s->magic, SLAB_MAGIC);
}

struct slab *slab_open(const char *path, int create)
{
	struct slab *s;
	struct stat st;
	int fd;

	fd = open(path, O_RDWR | (create ? O_CREAT : 0), 0644);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &st) < 0)
		goto fail;
	if ((size_t)st.st_size < sizeof(*s)) {
		errno = ENODATA;
		if (!create || ftruncate(fd, sizeof(*s)) < 0)
			goto fail;
	}
	s = mmap(NULL, sizeof(*s), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (s == MAP_FAILED)
		goto fail;
	close(fd);
	if (s->magic == SLAB_MAGIC)
		return s;
	if (!create) {
		slab_close(s);
		errno = ENODATA;
		return NULL;
	}
	slab_format(s);
	return s;
fail:
	close(fd);
	return NULL;
}

void slab_close(struct slab *s)
{
	munmap(s, sizeof(*s));
}

static uint32_t slot_free(const struct slab *s)
{
	uint32_t i;

	for (i = 1; i < s->nslots; i++)
		if (!BIT_TEST(s->used, i))
			return i;
	return SLAB_NONE;
}

/* Adds a note; its id, or 0 if there is no room. */
uint32_t slab_put(struct slab *s, const char *text)
{
	uint32_t n = slot_free(s);
	uint32_t id = s->last_id + 1;
	struct slot *sl = &s->slot[n];
	size_t len = strlen(text);

	if (n == SLAB_NONE || len > SLOT_TEXT) {
		errno = n == SLAB_NONE ? ENOSPC : EMSGSIZE;
		return 0;
	}

	/* an id is never given twice, not even after a crash */
	STORE_PERSIST(s->last_id, id);

	sl->id = id;
	sl->len = (uint32_t)len;
	sl->refs = 0;
	memset(sl->text, 0, SLOT_TEXT);
	memcpy(sl->text, text, len);
	sl->check = slot_check(sl);
	sl->next = s->head;
	PERSIST(sl, sizeof(*sl));

	BIT_SET(s->used, n);
	STORE_PERSIST(s->head, n);
	return id;
}

/* The slot of a note and the link to it. */
static uint32_t *link_find(struct slab *s, uint32_t id)
{
	uint32_t *link = &s->head;

	while (*link != SLAB_NONE && s->slot[*link].id != id)
		link = &s->slot[*link].next;
	return *link == SLAB_NONE ? NULL : link;
}

/* Takes the slot behind a link out of the list. */
static void list_unlink(struct slab *s, uint32_t *link)
{
	*link = s->slot[*link].next;
	CLWB(link);
	SFENCE();
}

int slab_drop(struct slab *s, uint32_t id)
{
	uint32_t *link = link_find(s, id);
	uint32_t n;

	if (link == NULL) {
		errno = ENOENT;
		return -1;
	}
	n = *link;
	list_unlink(s, link);
	BIT_CLEAR(s->used, n);
	return 0;
}

int slab_pin(struct slab *s, uint32_t id)
{
	uint32_t *link = link_find(s, id);
	struct slot *sl;

	if (link == NULL) {
		errno = ENOENT;
		return -1;
	}
	sl = &s->slot[*link];
	STORE_PERSIST(sl->refs, sl->refs + 1);
	return 0;
}

/* Takes back slots that are marked as used and cannot be reached. */
int slab_recover(struct slab *s)
{
	uint64_t reached[2] = { 1, 0 };
	uint32_t n, seen = 0;

	for (n = s->head; n != SLAB_NONE; n = s->slot[n].next) {
		if (n >= s->nslots || seen++ == s->nslots || !BIT_TEST(s->used, n)) {
			fprintf(stderr, "slab: the list leads to slot %u, which is free\n", n);
			return -1;
		}
		if (s->slot[n].len > SLOT_TEXT || s->slot[n].check != slot_check(&s->slot[n])) {
			fprintf(stderr, "slab: slot %u is damaged\n", n);
			return -1;
		}
		reached[n / 64] |= UINT64_C(1) << (n % 64);
	}
	for (n = 1; n < s->nslots; n++)
		if (BIT_TEST(s->used, n) && !BIT_TEST(reached, n))
			BIT_CLEAR(s->used, n);
	return 0;
}

int slab_print(const struct slab *s)
{
	uint32_t n;

	for (n = s->head; n != SLAB_NONE; n = s->slot[n].next) {
		const struct slot *sl = &s->slot[n];

		printf("%u: %.*s", sl->id, (int)sl->len, sl->text);
		if (sl->refs)
			printf(" (pinned %llu times)", (unsigned long long)sl->refs);
		putchar('\n');
	}
	return ferror(stdout) ? -1 : 0;
}
