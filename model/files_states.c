/* Lists the states of files that a crash can leave: each cell of names, each size and each sector
 * has some of its versions, independently of all others. What no name leads to is not seen. */
#include "model/files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/files_internal.h"

/* One thing that is durable up to some point. */
struct item {
	size_t nversions, version;
	struct cell *cell;
	struct inode *size;
	struct sector *sector;
};

struct states {
	const struct files *f;
	VEC(struct item) items;
	VEC(char *) lines; /* of one state */
};

static void add_items(struct states *s)
{
	const struct files *f = s->f;

	for (size_t k = 0; k < f->cells.n; k++)
		*vec_add(&s->items) = (struct item){ .nversions = f->cells.at[k]->ops.n + 1,
						     .cell = f->cells.at[k] };
	for (size_t k = 0; k < f->inodes.n; k++) {
		struct inode *i = f->inodes.at[k];

		if (i && i->sizes.n > 1)
			*vec_add(&s->items) = (struct item){ .nversions = i->sizes.n, .size = i };
		for (size_t n = 0; i && n < i->sectors.n; n++)
			if (i->sectors.at[n]->versions.n > 1)
				*vec_add(&s->items) =
					(struct item){ .nversions = i->sectors.at[n]->versions.n,
						       .sector = i->sectors.at[n] };
	}
}

static uint32_t entry_file(const struct states *s, const struct entry *e)
{
	uint32_t file = e->durable;

	for (size_t k = 0; e->cell && k < s->items.n; k++) {
		const struct item *it = &s->items.at[k];

		if (it->cell != e->cell)
			continue;
		for (size_t op = 0; op < it->version; op++)
			for (uint32_t n = 0; n < it->cell->ops.at[op].n; n++)
				if (it->cell->ops.at[op].entry[n] == e)
					file = it->cell->ops.at[op].file[n];
	}
	return file;
}

static uint64_t inode_size(const struct states *s, const struct inode *i)
{
	for (size_t k = 0; k < s->items.n; k++)
		if (s->items.at[k].size == i)
			return i->sizes.at[s->items.at[k].version];
	return i->sizes.at[0];
}

static uint8_t byte_at(const struct states *s, const struct inode *i, uint64_t offset)
{
	const uint64_t addr = PMT_ADDR(i->number, offset);
	const struct sector *sector = map_get(&s->f->sectors, addr / FILES_SECTOR_BYTES);
	size_t version = 0;

	if (!sector)
		return 0;
	for (size_t k = 0; k < s->items.n; k++)
		if (s->items.at[k].sector == sector)
			version = s->items.at[k].version;
	return sector->versions.at[version][addr - sector->addr];
}

/* In runs of equal bytes. */
static char *content_text(const struct states *s, const struct inode *i)
{
	const uint64_t size_bytes = inode_size(s, i);
	char *text = xstrdup(""), *longer;
	uint64_t n;

	for (uint64_t at = 0; at < size_bytes; at += n) {
		const uint8_t byte = byte_at(s, i, at);

		for (n = 1; at + n < size_bytes && byte_at(s, i, at + n) == byte; n++)
			;
		longer = xasprintf("%s%c%llu", text, byte ? byte : '.', (unsigned long long)n);
		free(text);
		text = longer;
	}
	return text;
}

static bool is_root(const struct files *f, uint32_t folder)
{
	for (size_t k = 0; k < f->entries.n; k++)
		if (f->entries.at[k]->now == folder || f->entries.at[k]->durable == folder)
			return false;
	return true;
}

static void add_folder(struct states *s, uint32_t folder, const char *prefix, unsigned depth)
{
	for (size_t k = 0; k < s->f->entries.n; k++) {
		const struct entry *e = s->f->entries.at[k];
		const uint32_t file = e->folder == folder ? entry_file(s, e) : 0;
		const struct inode *i = files_inode(s->f, file);
		char *path, *content;

		if (!i)
			continue;
		path = xasprintf("%s%s", prefix, e->name);
		if (i->flags & PMT_FILE_FOLDER) {
			char *inner = xasprintf("%s/", path);

			*vec_add(&s->lines) = xstrdup(inner);
			if (depth < 32)
				add_folder(s, file, inner, depth + 1);
			free(inner);
		} else {
			content = content_text(s, i);
			*vec_add(&s->lines) =
				xasprintf("%s%s%s", path, *content ? "=" : "", content);
			free(content);
		}
		free(path);
	}
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void tell_state(struct states *s, void (*tell)(const char *state, void *arg), void *arg)
{
	char *text = xstrdup(""), *longer;

	for (size_t k = 0; k < s->f->inodes.n; k++)
		if (s->f->inodes.at[k] && (s->f->inodes.at[k]->flags & PMT_FILE_FOLDER) &&
		    is_root(s->f, (uint32_t)k))
			add_folder(s, (uint32_t)k, "", 0);
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

/* Counts up, like digits. */
static bool next_state(struct states *s)
{
	for (size_t k = 0; k < s->items.n; k++) {
		if (++s->items.at[k].version < s->items.at[k].nversions)
			return true;
		s->items.at[k].version = 0;
	}
	return false;
}

bool files_each_state(const struct files *f, uint64_t max,
		      void (*tell)(const char *state, void *arg), void *arg)
{
	struct states s = { .f = f };
	uint64_t n = 1;
	bool is_all;

	add_items(&s);
	for (size_t k = 0; k < s.items.n && n <= max; k++)
		n *= s.items.at[k].nversions;
	is_all = n <= max;
	if (is_all)
		do
			tell_state(&s, tell, arg);
		while (next_state(&s));
	vec_release(&s.items);
	vec_release(&s.lines);
	return is_all;
}
