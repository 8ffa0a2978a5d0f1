/* Notes what decides how far a journal is durable, and what it waits for (files_profile.c). A
 * journal waits for the data of blocks that a write allocates; so for each sector that is written,
 * it is noted whether the write began its block. */
#include "model/files_internal.h"

void files_inode_changed(struct inode *i, const struct trace_event *ev, bool has_blocks)
{
	if (!i)
		return;
	i->changed_seq = ev->seq;
	if (has_blocks)
		i->blocks_seq = ev->seq;
}

void files_replaces(struct files *f, const struct inode *i, const struct trace_event *ev)
{
	if (i->sizes.n > 1)
		*vec_add(&f->replacements) =
			(struct replacement){ i->number, ev->seq,
					      i->sizes.at[i->sizes.n - 1].change.seq };
}

/* Do both events belong to one call? A call that changes the size and stores has several sites. */
static bool is_same_call(const struct trace_site *a, const struct trace_site *b)
{
	return a == b || (a && b && a->pc == b->pc && a->node == b->node);
}

/* Adds the sizes that a file may have while it grows to its last one, because its pages come to the
 * disk one by one: the end of the page that was the last one, and the ends of those that are
 * written. Of a large write, these are only the first and the last few; a recovery that copes with
 * them copes with the rest. */
#define PARTIAL_PAGES 4u
static void grow_by_pages(struct inode *i, uint64_t begin)
{
	const struct size all = i->sizes.at[i->sizes.n - 1];
	uint64_t at =
		(i->grown_from + FILES_BLOCK_BYTES - 1) / FILES_BLOCK_BYTES * FILES_BLOCK_BYTES;

	i->sizes.n--;
	while (at < all.bytes) {
		const bool is_far = at >= begin + PARTIAL_PAGES * FILES_BLOCK_BYTES &&
				    at + PARTIAL_PAGES * FILES_BLOCK_BYTES < all.bytes;

		if (at > i->grown_from && !is_far)
			*vec_add(&i->sizes) = (struct size){ .bytes = at,
							     .is_partial = true,
							     .change = all.change };
		at += FILES_BLOCK_BYTES;
		if (at < begin)
			at = begin / FILES_BLOCK_BYTES * FILES_BLOCK_BYTES + FILES_BLOCK_BYTES;
	}
	*vec_add(&i->sizes) = all;
}

void files_written(struct files *f, const struct trace_event *ev)
{
	struct inode *i = files_inode(f, PMT_FILE(ev->addr));
	const uint64_t begin = PMT_OFFSET(ev->addr), end = begin + ev->arg[0];
	struct size *size = i ? &i->sizes.at[i->sizes.n - 1] : NULL;

	if (!f->has_contents || !i || i->sizes.n < 2 || size->bytes != end ||
	    size->bytes <= i->grown_from || size->change.stream != ev->stream ||
	    size->change.thread != ev->thread || !is_same_call(size->change.site, ev->site))
		return;
	size->change.is_appended = true;
	for (uint64_t at = begin / FILES_SECTOR_BYTES * FILES_SECTOR_BYTES; at < end;
	     at += FILES_SECTOR_BYTES) {
		const struct sector *s =
			map_get(&f->sectors, PMT_ADDR(i->number, at) / FILES_SECTOR_BYTES);

		if (s && s->call == f->ncalls && s->changes.n > 1 && !i->has_spare &&
		    at / FILES_BLOCK_BYTES * FILES_BLOCK_BYTES >= i->grown_from)
			s->changes.at[s->changes.n - 1].block_seq = size->change.seq;
	}
	grow_by_pages(i, begin);
}

void files_written_in_part(struct inode *i)
{
	for (size_t k = 0; i && k < i->unsynced.n; k++)
		for (size_t c = 0; c < i->unsynced.at[k]->changes.n; c++)
			i->unsynced.at[k]->changes.at[c].block_seq = 0;
}
