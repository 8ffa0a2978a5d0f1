/* Lists what a crash can leave of files: each cell of names, each size and each sector has some of
 * its versions, independently of all others. What no name leads to is not seen. */
#include "model/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/files_internal.h"

#define DEPTH_MAX 32u /* of folders: a state can show one inside itself */

/* ---- items ---- */

/* Adds an item to the list. Gives its index plus 1; 0 if it has only one version, and is not
 * added. */
static uint32_t add_item(files_items *out, enum files_item_kind kind, size_t nversions,
			 uint64_t key, const void *of)
{
	if (nversions < 2)
		return 0;
	*vec_add(out) = (struct files_item){ .kind = kind,
					     .nversions = (uint32_t)nversions,
					     .version = (uint32_t)nversions - 1,
					     .key = key,
					     .of = of };
	return (uint32_t)out->n;
}

static uint64_t entry_number(const struct files *f, const struct entry *e)
{
	uint64_t k = 0;

	while (f->entries.at[k] != e)
		k++;
	return k;
}

/* Asks whether all names of the cell are names of files that are memory. Such a cell gets no item:
 * a state has its names as the program left them. */
static bool is_of_memory(const struct cell *c, bool (*is_memory)(uint32_t file, const void *arg),
			 const void *arg)
{
	for (size_t op = 0; op < c->ops.n; op++)
		for (uint32_t n = 0; n < c->ops.at[op].n; n++)
			if (c->ops.at[op].file[n] && !is_memory(c->ops.at[op].file[n], arg))
				return false;
	for (size_t k = 0; k < c->entries.n; k++)
		if (c->entries.at[k]->durable && !is_memory(c->entries.at[k]->durable, arg))
			return false;
	return true;
}

void files_list_items(struct files *f, bool (*is_memory)(uint32_t file, const void *arg),
		      const void *arg, files_items *out)
{
	out->n = 0;
	for (size_t k = 0; k < f->cells.n; k++) {
		struct cell *c = f->cells.at[k];

		c->item = is_memory && is_of_memory(c, is_memory, arg)
				  ? 0
				  : add_item(out, FILES_NAMES, c->ops.n + 1,
					     entry_number(f, c->entries.at[0]), c);
	}
	for (size_t k = 0; k < f->inodes.n; k++) {
		struct inode *i = f->inodes.at[k];

		if (i)
			i->item =
				is_memory && is_memory((uint32_t)k, arg)
					? 0
					: add_item(out, FILES_SIZE, i->sizes.n, PMT_ADDR(k, 0), i);
	}
	for (size_t k = 0; k < f->inodes.n; k++) {
		const struct inode *i = f->inodes.at[k];
		const bool is_left_out = i && is_memory && is_memory((uint32_t)k, arg);

		for (size_t n = 0; i && n < i->sectors.n; n++) {
			struct sector *s = i->sectors.at[n];

			s->item = is_left_out
					  ? 0
					  : add_item(out, FILES_SECTOR, s->versions.n, s->addr, s);
		}
	}
}

const struct files_change *files_item_change(const struct files_item *i, uint32_t version)
{
	switch (i->kind) {
	case FILES_NAMES: return &((const struct cell *)i->of)->ops.at[version - 1].change;
	case FILES_SIZE: return &((const struct inode *)i->of)->sizes.at[version].change;
	case FILES_SECTOR: return &((const struct sector *)i->of)->changes.at[version];
	case FILES_LINE: return &((const struct files_change *)i->of)[version];
	}
	return NULL;
}

const uint8_t *files_item_bytes(const struct files_item *i, uint32_t version)
{
	return ((const struct sector *)i->of)->versions.at[version];
}

/* ---- a state ---- */

static uint32_t entry_file(const files_items *items, const struct entry *e)
{
	uint32_t file = e->durable;
	const struct cell *c = e->cell;

	if (!c || !c->item)
		return e->now;
	for (size_t op = 0; op < items->at[c->item - 1].version; op++)
		for (uint32_t n = 0; n < c->ops.at[op].n; n++)
			if (c->ops.at[op].entry[n] == e)
				file = c->ops.at[op].file[n];
	return file;
}

static bool is_root(const struct files *f, uint32_t folder)
{
	for (size_t k = 0; k < f->entries.n; k++)
		if (f->entries.at[k]->now == folder || f->entries.at[k]->durable == folder)
			return false;
	return true;
}

struct paths {
	const struct files *f;
	const files_items *items;
	void (*tell)(const struct files_path *p, void *arg);
	void *arg;
	uint32_t root;
};

static void tell_folder(const struct paths *p, uint32_t folder, const char *prefix, unsigned depth)
{
	for (size_t k = 0; k < p->f->entries.n; k++) {
		const struct entry *e = p->f->entries.at[k];
		const uint32_t file = e->folder == folder ? entry_file(p->items, e) : 0;
		const struct inode *i = files_inode(p->f, file);
		char *path, *inner;

		if (!i)
			continue;
		path = xasprintf("%s%s", prefix, e->name);
		p->tell(&(struct files_path){ .path = path,
					      .file = file,
					      .flags = i->flags,
					      .root = p->root,
					      .size_bytes = files_inode_size(p->items, i)->bytes,
					      .size_seq =
						      files_inode_size(p->items, i)->change.seq },
			p->arg);
		if ((i->flags & PMT_FILE_FOLDER) && depth < DEPTH_MAX) {
			inner = xasprintf("%s/", path);
			tell_folder(p, file, inner, depth + 1);
			free(inner);
		}
		free(path);
	}
}

void files_each_path(const struct files *f, const files_items *items,
		     void (*tell)(const struct files_path *p, void *arg), void *arg)
{
	for (size_t k = 0; k < f->inodes.n; k++)
		if (f->inodes.at[k] && (f->inodes.at[k]->flags & PMT_FILE_FOLDER) &&
		    is_root(f, (uint32_t)k))
			tell_folder(&(struct paths){ f, items, tell, arg, (uint32_t)k },
				    (uint32_t)k, "", 0);
}

void files_each_sector(const struct files *f, uint32_t file,
		       void (*tell)(const struct files_sector *s, void *arg), void *arg)
{
	const struct inode *i = files_inode(f, file);

	for (size_t k = 0; i && k < i->sectors.n; k++) {
		const struct sector *s = i->sectors.at[k];

		tell(&(struct files_sector){ .offset = PMT_OFFSET(s->addr),
					     .item = s->item,
					     .nversions = (uint32_t)s->versions.n,
					     .versions = s->versions.at,
					     .changes = s->changes.at },
		     arg);
	}
}

/* ---- as text ---- */

struct states {
	const struct files *f;
	enum files_profile profile;
	files_items items;
	VEC(char *) lines; /* of one state */
};

static uint8_t byte_at(const struct states *s, uint32_t file, uint64_t offset)
{
	const uint64_t addr = PMT_ADDR(file, offset);
	const struct sector *sector = map_get(&s->f->sectors, addr / FILES_SECTOR_BYTES);

	if (!sector)
		return 0;
	return sector->versions.at[sector->item ? s->items.at[sector->item - 1].version
						: sector->versions.n - 1][addr - sector->addr];
}

/* Writes the content of a file as runs of equal bytes: "x512.488" is 512 x and then 488 zeros.
 * free() it. */
static char *content_text(const struct states *s, const struct files_path *p)
{
	char *text = xstrdup(""), *longer;
	uint64_t n;

	for (uint64_t at = 0; at < p->size_bytes; at += n) {
		const uint8_t byte = byte_at(s, p->file, at);

		for (n = 1; at + n < p->size_bytes && byte_at(s, p->file, at + n) == byte; n++)
			;
		longer = xasprintf("%s%c%llu", text, byte ? byte : '.', (unsigned long long)n);
		free(text);
		text = longer;
	}
	return text;
}

static void add_path(const struct files_path *p, void *arg)
{
	struct states *s = arg;
	char *content;

	if (p->flags & PMT_FILE_FOLDER) {
		*vec_add(&s->lines) = xasprintf("%s/", p->path);
		return;
	}
	content = content_text(s, p);
	*vec_add(&s->lines) = xasprintf("%s%s%s", p->path, *content ? "=" : "", content);
	free(content);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void tell_state(struct states *s, void (*tell)(const char *state, void *arg), void *arg)
{
	char *text = xstrdup(""), *longer;

	files_each_path(s->f, &s->items, add_path, s);
	if (s->lines.n > 1)
		qsort(s->lines.at, s->lines.n, sizeof *s->lines.at, compare);
	for (size_t k = 0; k < s->lines.n; k++) {
		longer = xasprintf("%s%s%s", text, k ? " " : "", s->lines.at[k]);
		free(text);
		free(s->lines.at[k]);
		text = longer;
	}
	s->lines.n = 0;
	tell(text, arg);
	free(text);
}

/* Moves to the next combination of versions, as a counter does whose digits are the items. False
 * after the last combination. */
static bool next_state(struct states *s)
{
	for (size_t k = 0; k < s->items.n; k++) {
		if (++s->items.at[k].version < s->items.at[k].nversions)
			return true;
		s->items.at[k].version = 0;
	}
	return false;
}

static bool is_possible(const struct states *s)
{
	for (size_t k = 0; k < s->items.n; k++) {
		const struct files_item *it = &s->items.at[k];
		const struct files_change *c;

		if (it->kind != FILES_SECTOR)
			continue;
		c = files_item_change(it, it->version);
		if (c->is_cut &&
		    c->seq > files_inode_size(&s->items, files_inode(s->f, PMT_FILE(it->key)))
				     ->change.seq)
			return false;
	}
	return files_allows(s->f, s->profile, &s->items);
}

bool files_each_state(struct files *f, enum files_profile p, uint64_t max,
		      void (*tell)(const char *state, void *arg), void *arg)
{
	struct states s = { .f = f, .profile = p };
	uint64_t n = 1;
	bool is_all;

	files_list_items(f, NULL, NULL, &s.items);
	for (size_t k = 0; k < s.items.n; k++)
		s.items.at[k].version = 0;
	for (size_t k = 0; k < s.items.n && n <= max; k++)
		n *= s.items.at[k].nversions;
	is_all = n <= max;
	if (is_all)
		do
			if (is_possible(&s))
				tell_state(&s, tell, arg);
		while (next_state(&s));
	vec_release(&s.items);
	vec_release(&s.lines);
	return is_all;
}
