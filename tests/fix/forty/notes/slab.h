/* slab.h - fixed-size slots in persistent memory */
#ifndef SLAB_H
#define SLAB_H

#include <stdint.h>

#define SLAB_MAGIC 0x62616c73u
#define SLAB_SLOTS 96
#define SLAB_NONE 0 /* slot 0 is never given out */
#define SLOT_TEXT 104

/* Two cache lines. */
struct slot {
	uint32_t next;		/* index of a slot, or SLAB_NONE */
	uint32_t id;
	uint32_t len;
	uint32_t check;		/* of id, len and text */
	uint64_t refs;		/* times that the note was pinned */
	char text[SLOT_TEXT];
};

struct slab {
	uint32_t magic;
	uint32_t nslots;
	char pad0[56];
	uint32_t head;		/* newest slot of the list */
	uint32_t last_id;
	char pad1[56];
	uint64_t used[2];	/* bitmap; set before a slot can be reached */
	char pad2[48];
	struct slot slot[SLAB_SLOTS];
};

struct slab *slab_open(const char *path, int create);
void slab_close(struct slab *s);

uint32_t slab_put(struct slab *s, const char *text);
int slab_drop(struct slab *s, uint32_t id);
int slab_pin(struct slab *s, uint32_t id);
int slab_recover(struct slab *s);
int slab_print(const struct slab *s);

#endif
