/* store.h - a log in two segments, and a catalog of what is in it */
#ifndef LOGSTORE_STORE_H
#define LOGSTORE_STORE_H

#include <stdint.h>

#define STORE_MAGIC 0x65726f7473676f6cull
#define NSEGMENTS 2
#define SEGMENT_BYTES 2048
#define NENTRIES 16

struct record {
	uint32_t len;
	uint32_t crc;
	uint64_t number;
	char data[];
};

struct segment {
	uint64_t used; /* bytes of data that count */
	uint64_t pad[7];
	char data[SEGMENT_BYTES];
};

struct entry {
	uint64_t is_live;
	uint64_t number; /* of the record */
	uint32_t segment;
	uint32_t offset;
	char name[40];
};

struct store {
	uint64_t magic;
	uint64_t next; /* number of a record */
	uint64_t active; /* segment */
	uint64_t pad[5];
	struct entry entries[NENTRIES];
	struct segment segments[NSEGMENTS];
};

/* segment.c */
struct record *segment_append(struct segment *g, uint64_t number, const char *data);
const struct record *segment_record(const struct segment *g, uint32_t offset); /* NULL if it is damaged */
void segment_reset(struct segment *g);

/* catalog.c */
struct entry *catalog_find(struct store *s, const char *name);
int catalog_add(struct store *s, const char *name, const struct record *r);
void catalog_remove(struct entry *e);
void catalog_remove_segment(struct store *s, uint32_t segment);
int catalog_check(const struct store *s);

#endif
