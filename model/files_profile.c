/* Says which of the weakest profile's states a file system with a journal can leave. All changes of
 * names and sizes are in one journal, in their order, and a crash leaves a prefix of it. So a
 * version of a name, a size or a sector needs the journal to end in some span of events, and a
 * state is possible if its versions have such an event in common.
 *
 * What a write appends gets its blocks and its size some time later, so that size needs a journal
 * that has all that came before the write. ext4 (data=ordered, delayed allocation, dioread_nolock)
 * commits the size while the data of the new blocks is still on its way: they show zeros then. XFS
 * moves the size when the data that ends there has been written. So a size shows data in its last
 * block, if a write began that block; other blocks may have been on their way at the same time. In
 * a block that has its place on the disk already, size and data are apart. */
#include <string.h>

#include "model/files_internal.h"

static const struct {
	const char *name;
	bool writes_replacing; /* a rename over a file waits for the size of what replaces it */
	bool shows_end;        /* a size shows data in its last block */
} profiles[FILES_PROFILES] = {
	[FILES_WEAKEST] = { .name = "files" },
	[FILES_EXT4] = { .name = "ext4", .writes_replacing = true },
	[FILES_XFS] = { .name = "xfs", .shows_end = true },
};

const char *files_profile_name(enum files_profile p)
{
	return profiles[p].name;
}

enum files_profile files_profile_find(const char *name)
{
	unsigned p = 0;

	while (p < FILES_PROFILES && strcmp(profiles[p].name, name) != 0)
		p++;
	return (enum files_profile)p;
}

/* ---- spans ---- */

static void at_least(struct files_span *s, uint64_t seq)
{
	if (s->from < seq)
		s->from = seq;
}

static void before(struct files_span *s, uint64_t seq)
{
	if (s->to >= seq)
		s->to = seq - 1;
}

static void narrow_names(const struct cell *c, uint32_t version, struct files_span *s)
{
	if (version > 0)
		at_least(s, c->ops.at[version - 1].change.seq);
	if (version < c->ops.n)
		before(s, c->ops.at[version].change.seq);
}

static void narrow_size(const struct files *f, enum files_profile p, const struct inode *i,
			uint32_t version, struct files_span *s)
{
	const struct size *size = &i->sizes.at[version];
	const uint64_t seq = size->change.seq;

	at_least(s, seq);
	for (size_t later = version + 1; later < i->sizes.n; later++)
		if (!i->sizes.at[later].change.is_appended) {
			before(s, i->sizes.at[later].change.seq);
			break;
		}
	for (size_t k = 0; k < f->replacements.n && profiles[p].writes_replacing; k++)
		if (f->replacements.at[k].file == i->number &&
		    seq + !size->is_partial <= f->replacements.at[k].size_seq)
			before(s, f->replacements.at[k].seq);
}

struct files_span files_span_of_names(const struct files *f, enum files_profile p,
				      const files_items *items,
				      bool (*is_seen)(uint32_t file, const void *arg),
				      const void *arg)
{
	struct files_span s = { f->journaled, UINT64_MAX };

	for (size_t k = 0; k < items->n && p != FILES_WEAKEST; k++) {
		const struct files_item *it = &items->at[k];

		if (it->kind == FILES_NAMES)
			narrow_names(it->of, it->version, &s);
		else if (it->kind == FILES_SIZE && (!is_seen || is_seen(PMT_FILE(it->key), arg)))
			narrow_size(f, p, it->of, it->version, &s);
	}
	return s;
}

/* Does a file of this size show the block that this change began, which contains this offset? It
 * does if the file ends in it, and if the size is that of the same write, or a later one; but a
 * size that truncate or fallocate set says nothing about blocks. */
static bool is_shown(const struct inode *i, const struct size *size, const struct files_change *c,
		     uint64_t offset)
{
	if (offset / FILES_BLOCK_BYTES != (size->bytes - 1) / FILES_BLOCK_BYTES)
		return false;
	for (size_t k = 0; k < i->sizes.n; k++) {
		const struct files_change *each = &i->sizes.at[k].change;

		if (each->seq > c->block_seq && each->seq <= size->change.seq && !each->is_appended)
			return false;
	}
	return c->block_seq && size->change.seq >= c->block_seq;
}

void files_span_narrow(const struct files *f, enum files_profile p, const files_items *items,
		       size_t sector, uint32_t version, struct files_span *s)
{
	const struct sector *of = items->at[sector].of;
	const struct inode *i = files_inode(f, PMT_FILE(of->addr));
	const struct size *size = files_inode_size(items, i);

	if (p == FILES_WEAKEST || PMT_OFFSET(of->addr) >= size->bytes)
		return;
	for (uint32_t v = 1; v < of->changes.n; v++) {
		const struct files_change *c = &of->changes.at[v];

		if (c->is_cut && v > version)
			before(s, c->seq);
		else if (c->is_cut && (v == version || !c->is_cut_in_block))
			at_least(s, c->seq);
		else if (v > version && profiles[p].shows_end &&
			 is_shown(i, size, c, PMT_OFFSET(of->addr)))
			*s = (struct files_span){ 1, 0 };
	}
}

bool files_allows(const struct files *f, enum files_profile p, const files_items *items)
{
	struct files_span s = files_span_of_names(f, p, items, NULL, NULL);

	for (size_t k = 0; k < items->n && p != FILES_WEAKEST; k++)
		if (items->at[k].kind == FILES_SECTOR)
			files_span_narrow(f, p, items, k, items->at[k].version, &s);
	return !files_span_is_empty(&s);
}

bool files_is_journaled(const struct files *f, enum files_profile p, uint64_t seq)
{
	return p != FILES_WEAKEST && seq <= f->journaled;
}
