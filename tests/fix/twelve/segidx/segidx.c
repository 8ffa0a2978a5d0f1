/* segidx.c - append-only key/value index in fixed-size segments
 *
 * A record counts once seg->count covers it. Space comes back by compaction: what is alive in the oldest segment
 * is appended again, then the segment goes to the free list. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pm.h"
#include "segidx.h"

static uint32_t seg_no(const struct super *sb, const struct seg *s)
{
	return (uint32_t)(s - sb->segs);
}

static uint32_t val_len(const struct rec *r)
{
	return r->len == LEN_TOMB ? 0 : r->len;
}

static uint32_t rec_sum(const struct rec *r)
{
	uint32_t h = 2166136261u ^ (uint32_t)r->key ^ (r->len << 8);

	for (uint32_t i = 0; i < val_len(r); i++)
		h = (h ^ (uint8_t)r->val[i]) * 16777619u;
	return h;
}

static struct seg *seg_by_age(const struct index *ix, int oldest)
{
	struct seg *best = NULL;

	for (uint32_t i = 0; i < SEG_COUNT; i++) {
		struct seg *s = &ix->sb->segs[i];

		if (s->state == SEG_USED && (!best || (oldest ? s->seq < best->seq : s->seq > best->seq)))
			best = s;
	}
	return best;
}

/* Take a segment off the free list and make it the active one. */
static int seg_take(struct index *ix)
{
	struct super *sb = ix->sb;
	struct seg *s;

	if (sb->free_head == SEG_NONE)
		return -ENOSPC;
	s = &sb->segs[sb->free_head];
	s->count = 0;
	s->seq = ix->active ? ix->active->seq + 1 : 1;
	PM_SET(s->state, SEG_USED);
	pm_persist(s, offsetof(struct seg, recs));

	/* A crash here leaves the youngest segment at the head of the list; index_recover() takes it off. */
	sb->free_head = s->next;
	pm_persist(&sb->free_head, sizeof(sb->free_head));
	ix->active = s;
	return 0;
}

static void seg_release(struct index *ix, struct seg *s)
{
	struct super *sb = ix->sb;

	s->next = sb->free_head;
	PM_SET(s->state, SEG_FREE);
	pm_persist(s, offsetof(struct seg, recs));
	sb->free_head = seg_no(sb, s);
	pm_persist(&sb->free_head, sizeof(sb->free_head));
}

static int append(struct index *ix, uint64_t key, const char *val, uint32_t len)
{
	struct seg *s = ix->active;
	struct rec *r;
	int rc;

	if (!s || s->count == SEG_RECS) {
		if ((rc = seg_take(ix)) != 0)
			return rc;
		s = ix->active;
	}
	r = &s->recs[s->count];
	r->key = key;
	r->len = len;
	memcpy(r->val, val, val_len(r));
	r->sum = rec_sum(r);
	pm_persist(r, offsetof(struct rec, val) + val_len(r));

	s->count++;
	pm_persist(&s->count, sizeof(s->count));
	ix->live[key] = len == LEN_TOMB ? NULL : r;
	return 0;
}

int index_put(struct index *ix, uint64_t key, const char *val)
{
	size_t len = strlen(val);

	if (key >= KEY_MAX || len > VAL_MAX)
		return -EINVAL;
	return append(ix, key, val, (uint32_t)len);
}

int index_del(struct index *ix, uint64_t key)
{
	if (key >= KEY_MAX || !ix->live[key])
		return -ENOENT;
	return append(ix, key, "", LEN_TOMB);
}

int index_compact(struct index *ix)
{
	struct seg *s = seg_by_age(ix, 1);
	int rc;

	if (!s || s == ix->active)
		return 0;
	for (uint64_t i = 0; i < s->count; i++) {
		const struct rec *r = &s->recs[i];

		/* Nothing is older than this segment, so its tombstones may go. */
		if (ix->live[r->key] == r && (rc = append(ix, r->key, r->val, r->len)) != 0)
			return rc;
	}
	seg_release(ix, s);
	return 0;
}

static void format(struct super *sb)
{
	for (uint32_t i = 0; i < SEG_COUNT; i++) {
		sb->segs[i].next = i + 1 < SEG_COUNT ? i + 1 : SEG_NONE;
		sb->segs[i].state = SEG_FREE;
		pm_flush(&sb->segs[i], offsetof(struct seg, recs));
	}
	sb->free_head = 0;
	pm_flush(&sb->free_head, sizeof(sb->free_head));
	sb->nsegs = SEG_COUNT;
	pm_persist(&sb->nsegs, sizeof(sb->nsegs));
	sb->magic = SEGIDX_MAGIC;
	pm_persist(&sb->magic, sizeof(sb->magic));
}

/* Mend the free list after a crash in seg_take() or seg_release(), then read the segments in the order of their age. */
static int index_recover(struct index *ix)
{
	struct super *sb = ix->sb;
	int listed[SEG_COUNT] = { 0 };
	uint64_t seq = 0;

	ix->active = seg_by_age(ix, 0);
	if (ix->active && sb->free_head == seg_no(sb, ix->active)) {
		sb->free_head = ix->active->next;
		pm_persist(&sb->free_head, sizeof(sb->free_head));
	}
	for (uint32_t n = sb->free_head; n != SEG_NONE; n = sb->segs[n].next) {
		if (n >= SEG_COUNT || listed[n] || sb->segs[n].state != SEG_FREE) {
			fprintf(stderr, "segidx: free list is broken at segment %u\n", n);
			return -EIO;
		}
		listed[n] = 1;
	}
	for (uint32_t n = 0; n < SEG_COUNT; n++)
		if (sb->segs[n].state == SEG_FREE && !listed[n])
			seg_release(ix, &sb->segs[n]);

	for (;;) {
		struct seg *s = NULL;

		for (uint32_t n = 0; n < SEG_COUNT; n++)
			if (sb->segs[n].state == SEG_USED && sb->segs[n].seq > seq && (!s || sb->segs[n].seq < s->seq))
				s = &sb->segs[n];
		if (!s)
			return 0;
		seq = s->seq;
		for (uint64_t i = 0; i < s->count && i < SEG_RECS; i++)
			if (s->recs[i].key < KEY_MAX)
				ix->live[s->recs[i].key] = s->recs[i].len == LEN_TOMB ? NULL : &s->recs[i];
	}
}

/* 0, 1 if there is no index in the file, or a negative errno */
int index_open(struct index *ix, const char *path, int create)
{
	int fd = open(path, create ? O_RDWR | O_CREAT : O_RDWR, 0644);
	struct stat st;

	memset(ix, 0, sizeof(*ix));
	if (fd < 0)
		return errno == ENOENT ? 1 : -errno;
	if (fstat(fd, &st) != 0 || (create && st.st_size == 0 && ftruncate(fd, sizeof(struct super)) != 0)) {
		close(fd);
		return -errno;
	}
	if (!create && st.st_size < (off_t)sizeof(struct super)) {
		close(fd);
		return 1;
	}
	ix->sb = mmap(NULL, sizeof(struct super), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (ix->sb == MAP_FAILED)
		return -errno;
	if (ix->sb->magic != SEGIDX_MAGIC) {
		if (!create)
			return 1;
		format(ix->sb);
	}
	return index_recover(ix);
}

int index_verify(const struct index *ix)
{
	int bad = 0;

	for (uint32_t n = 0; n < SEG_COUNT; n++) {
		const struct seg *s = &ix->sb->segs[n];

		if (s->state != SEG_FREE && s->state != SEG_USED)
			bad++;
		if (s->state != SEG_USED)
			continue;
		if (s->count > SEG_RECS) {
			fprintf(stderr, "segidx: segment %u has %llu records\n", n, (unsigned long long)s->count);
			return -1;
		}
		for (uint64_t i = 0; i < s->count; i++) {
			const struct rec *r = &s->recs[i];

			if (r->key >= KEY_MAX || (r->len > VAL_MAX && r->len != LEN_TOMB) || r->sum != rec_sum(r)) {
				fprintf(stderr, "segidx: record %llu of segment %u is damaged\n", (unsigned long long)i, n);
				bad++;
			}
		}
	}
	return bad ? -1 : 0;
}
