/* segidx.h - append-only key/value index in fixed-size segments */
#ifndef SEGIDX_H
#define SEGIDX_H

#include <stdint.h>

#define SEGIDX_MAGIC 0x3158444947455331ull
#define SEG_RECS 6
#define SEG_COUNT 5
#define SEG_NONE UINT32_MAX
#define VAL_MAX 72
#define LEN_TOMB UINT32_MAX
#define KEY_MAX 64

enum seg_state { SEG_FREE = 1, SEG_USED = 2 };

struct rec {
	uint64_t key;
	uint32_t sum; /* over key, len and value */
	uint32_t len; /* LEN_TOMB: key was deleted */
	char val[VAL_MAX];
};

struct seg {
	uint32_t state;
	uint32_t next; /* while free: the next free segment */
	uint64_t seq;  /* age; the youngest used segment takes the appends */
	uint64_t count; /* records below this are valid */
	uint8_t pad[40];
	struct rec recs[SEG_RECS];
} __attribute__((aligned(64)));

struct super {
	uint64_t magic;
	uint32_t nsegs;
	uint32_t free_head __attribute__((aligned(64)));
	struct seg segs[SEG_COUNT];
};

struct index {
	struct super *sb;
	struct seg *active;
	const struct rec *live[KEY_MAX]; /* latest record by key, volatile */
};

int index_open(struct index *ix, const char *path, int create);
int index_put(struct index *ix, uint64_t key, const char *val);
int index_del(struct index *ix, uint64_t key);
int index_compact(struct index *ix);
int index_verify(const struct index *ix);

#endif
