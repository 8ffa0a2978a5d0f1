/* Follows which changes of files are durable: of names, of sizes, and of sectors. fsync and similar
 * calls make earlier changes durable. Without such a call, each change may become durable at any
 * time, independently of the others. */
#include "model/files.h"

#include <linux/falloc.h>
#include <stdlib.h>
#include <string.h>

#include "model/files_internal.h"

#define MS_SYNC_FLAG 4u
#define RENAME_EXCHANGE_FLAG 2u
#define PAGE_BYTES 4096u /* msync writes back whole pages */

struct files *files_new(bool has_contents)
{
	struct files *f = xcalloc(1, sizeof *f);

	f->has_contents = has_contents;
	return f;
}

static void sector_free(struct sector *s)
{
	for (size_t i = 0; i < s->versions.n; i++)
		free(s->versions.at[i]);
	vec_release(&s->versions);
	vec_release(&s->changes);
	free(s);
}

static void inode_free(struct inode *i)
{
	for (size_t k = 0; i && k < i->sectors.n; k++)
		sector_free(i->sectors.at[k]);
	if (i) {
		vec_release(&i->sizes);
		vec_release(&i->sectors);
		vec_release(&i->unsynced);
	}
	free(i);
}

static void cell_free(struct cell *c)
{
	vec_release(&c->entries);
	vec_release(&c->ops);
	free(c);
}

void files_free(struct files *f)
{
	for (size_t i = 0; i < f->inodes.n; i++)
		inode_free(f->inodes.at[i]);
	for (size_t i = 0; i < f->entries.n; i++) {
		free(f->entries.at[i]->name);
		free(f->entries.at[i]);
	}
	for (size_t i = 0; i < f->cells.n; i++)
		cell_free(f->cells.at[i]);
	vec_release(&f->inodes);
	vec_release(&f->entries);
	vec_release(&f->cells);
	vec_release(&f->replacements);
	map_release(&f->sectors);
	free(f);
}

static struct files_change change_of(const struct trace_event *ev, uint64_t addr)
{
	return (struct files_change){ .site = ev->site,
				      .seq = ev->seq,
				      .addr = addr,
				      .stream = ev->stream,
				      .thread = ev->thread };
}

/* ---- content ---- */

static struct sector *sector_of(struct files *f, struct inode *i, uint64_t addr)
{
	struct sector *s = map_get(&f->sectors, addr / FILES_SECTOR_BYTES);

	if (s)
		return s;
	s = xcalloc(1, sizeof *s);
	s->addr = addr / FILES_SECTOR_BYTES * FILES_SECTOR_BYTES;
	if (f->has_contents) {
		*vec_add(&s->versions) = xcalloc(1, FILES_SECTOR_BYTES);
		*vec_add(&s->changes) = (struct files_change){ 0 };
	}
	map_set(&f->sectors, addr / FILES_SECTOR_BYTES, s);
	*vec_add(&i->sectors) = s;
	return s;
}

/* Puts n bytes of data into the sector at this offset; zeros if data is NULL. */
static void put(uint8_t *sector, uint64_t offset, const uint8_t *data, size_t n)
{
	if (data)
		memcpy(sector + offset, data, n);
	else
		memset(sector + offset, 0, n);
}

/* Notes that the event changes n bytes at addr, which lie in one sector. data: the new bytes, or
 * NULL for zeros. */
static void change_sector(struct files *f, struct inode *i, const struct trace_event *ev,
			  uint64_t addr, const uint8_t *data, size_t n)
{
	struct sector *s = sector_of(f, i, addr);
	const bool is_same = s->is_unsynced && s->call == f->ncalls &&
			     s->newest.stream == ev->stream && ev->kind == PMT_STORE_SYS;

	if (f->has_contents && !is_same) {
		uint8_t *next = xmalloc(FILES_SECTOR_BYTES);

		memcpy(next, s->versions.at[s->versions.n - 1], FILES_SECTOR_BYTES);
		*vec_add(&s->versions) = next;
		*vec_add(&s->changes) = change_of(ev, addr);
	}
	if (f->has_contents)
		put(s->versions.at[s->versions.n - 1], addr - s->addr, data, n);
	if (!s->is_unsynced)
		*vec_add(&i->unsynced) = s;
	s->is_unsynced = true;
	s->call = f->ncalls;
	s->newest = change_of(ev, addr);
	i->has_changed = true;
}

static size_t part_bytes(uint64_t addr, uint64_t left)
{
	const uint64_t room = FILES_SECTOR_BYTES - addr % FILES_SECTOR_BYTES;

	return left < room ? left : room;
}

static void step_store(struct files *f, const struct trace_event *ev)
{
	struct inode *i = files_inode(f, PMT_FILE(ev->addr));
	size_t n;

	for (size_t at = 0; i && at < ev->data_len; at += n) {
		n = part_bytes(ev->addr + at, ev->data_len - at);
		change_sector(f, i, ev, ev->addr + at, ev->data + at, n);
	}
}

static void step_write(struct files *f, const struct trace_event *ev)
{
	files_written(f, ev);
	f->ncalls++;
}

static void step_content(struct files *f, const struct trace_event *ev)
{
	struct inode *i = files_inode(f, PMT_FILE(ev->addr));
	size_t n;

	for (size_t at = 0; i && f->has_contents && at < ev->data_len; at += n) {
		struct sector *s = sector_of(f, i, ev->addr + at);

		n = part_bytes(ev->addr + at, ev->data_len - at);
		put(s->versions.at[0], ev->addr + at - s->addr, ev->data + at, n);
	}
}

void files_base_read(const struct files *f, uint64_t addr, uint8_t *bytes, uint32_t len_bytes)
{
	const struct sector *s = map_get(&f->sectors, addr / FILES_SECTOR_BYTES);

	if (s)
		memcpy(bytes, s->versions.at[s->versions.n - 1] + (addr - s->addr), len_bytes);
	else
		memset(bytes, 0, len_bytes);
}

void files_base_write(struct files *f, uint64_t addr, const uint8_t *bytes, uint32_t len_bytes)
{
	struct inode *i = files_inode(f, PMT_FILE(addr));
	struct sector *s = i ? sector_of(f, i, addr) : NULL;

	for (size_t k = 0; s && k < s->versions.n; k++)
		memcpy(s->versions.at[k] + (addr - s->addr), bytes, len_bytes);
}

/* Notes that the change cuts off the sector at this offset; the file ends at `end` then. */
static void note_cut(struct files_change *c, const struct trace_event *ev, uint64_t offset,
		     uint64_t end)
{
	c->is_cut = ev->kind == PMT_SIZE;
	c->is_cut_in_block = c->is_cut && offset / FILES_BLOCK_BYTES * FILES_BLOCK_BYTES < end;
}

/* Puts zeros into bytes [from, to) of the file, in the sectors that the model has. (Sectors that
 * were never written are zero anyway.) */
static void zero(struct files *f, struct inode *i, const struct trace_event *ev, uint64_t from,
		 uint64_t to)
{
	struct sector *s;

	for (size_t k = 0; k < i->sectors.n; k++) {
		const uint64_t start = PMT_OFFSET(i->sectors.at[k]->addr),
			       end = start + FILES_SECTOR_BYTES, a = start > from ? start : from,
			       b = end < to ? end : to;

		if (a >= b)
			continue;
		change_sector(f, i, ev, PMT_ADDR(i->number, a), NULL, b - a);
		s = i->sectors.at[k];
		if (s->changes.n > 0)
			note_cut(&s->changes.at[s->changes.n - 1], ev, start, from);
	}
}

static void sector_synced(struct sector *s)
{
	s->is_unsynced = false;
	if (s->versions.n == 0)
		return;
	for (size_t k = 0; k + 1 < s->versions.n; k++)
		free(s->versions.at[k]);
	s->versions.at[0] = s->versions.at[s->versions.n - 1];
	s->versions.n = s->changes.n = 1;
	s->changes.at[0].is_cut = false;
}

static void size_synced(struct inode *i)
{
	i->is_size_unsynced = false;
	i->sizes.at[0] = i->sizes.at[i->sizes.n - 1];
	i->sizes.n = 1;
}

/* Forgets the unsynced sectors beyond the new end of the file: the program cannot read them again.
 * Used only without contents. */
static void forget_beyond(struct inode *i, uint64_t size_bytes)
{
	size_t n = 0;

	for (size_t k = 0; k < i->unsynced.n; k++) {
		struct sector *s = i->unsynced.at[k];

		s->is_unsynced = PMT_OFFSET(s->addr) < size_bytes;
		if (s->is_unsynced)
			i->unsynced.at[n++] = s;
	}
	i->unsynced.n = n;
}

static void step_size(struct files *f, const struct trace_event *ev)
{
	struct inode *i = files_inode(f, ev->arg[0]);
	const uint64_t size_bytes = ev->arg[1];
	uint64_t old;

	if (!i)
		return;
	old = i->grown_from = i->sizes.at[i->sizes.n - 1].bytes;
	files_inode_changed(i, ev, true);
	if (!f->has_contents && i->is_size_unsynced)
		i->sizes.n--;
	i->is_size_unsynced = i->has_changed = true;
	i->size_change = change_of(ev, PMT_ADDR(i->number, size_bytes));
	*vec_add(&i->sizes) = (struct size){ .bytes = size_bytes, .change = i->size_change };
	f->ncalls++;
	if (size_bytes < old && f->has_contents)
		zero(f, i, ev, size_bytes, old);
	else if (size_bytes < old)
		forget_beyond(i, size_bytes);
	f->ncalls++;
}

static void step_fallocate(struct files *f, const struct trace_event *ev)
{
	struct inode *i = files_inode(f, ev->arg[0]);

	if (!i)
		return;
	i->has_changed = i->has_spare = true;
	files_inode_changed(i, ev, true);
	f->ncalls++;
	if (ev->arg[1] & (FALLOC_FL_PUNCH_HOLE | FALLOC_FL_ZERO_RANGE))
		zero(f, i, ev, ev->arg[2], ev->arg[2] + ev->arg[3]);
	f->ncalls++;
}

/* ---- names ---- */

static struct entry *entry_of(struct files *f, uint32_t folder, const uint8_t *name, size_t n,
			      uint32_t before)
{
	struct entry *e;

	for (size_t k = 0; k < f->entries.n; k++) {
		e = f->entries.at[k];
		if (e->folder == folder && strlen(e->name) == n && memcmp(e->name, name, n) == 0)
			return e;
	}
	e = xcalloc(1, sizeof *e);
	e->folder = folder;
	e->name = xasprintf("%.*s", (int)n, (const char *)name);
	e->durable = e->now = before;
	*vec_add(&f->entries) = e;
	return e;
}

static struct cell *cell_of(struct files *f, struct entry *e)
{
	if (e->cell)
		return e->cell;
	e->cell = xcalloc(1, sizeof *e->cell);
	*vec_add(&e->cell->entries) = e;
	*vec_add(&f->cells) = e->cell;
	return e->cell;
}

static void forget_cell(struct files *f, struct cell *c)
{
	for (size_t k = 0; k < f->cells.n; k++)
		if (f->cells.at[k] == c) {
			f->cells.at[k] = f->cells.at[--f->cells.n];
			break;
		}
	cell_free(c);
}

static int by_seq(const void *a, const void *b)
{
	const struct name_op *x = a, *y = b;

	return x->change.seq < y->change.seq ? -1 : x->change.seq > y->change.seq;
}

/* Makes one cell of the cells of two names, because a rename changes both names together. */
static struct cell *tie(struct files *f, struct entry *a, struct entry *b)
{
	struct cell *c = cell_of(f, a), *gone = cell_of(f, b);

	if (c == gone)
		return c;
	for (size_t k = 0; k < gone->entries.n; k++) {
		gone->entries.at[k]->cell = c;
		*vec_add(&c->entries) = gone->entries.at[k];
	}
	for (size_t k = 0; k < gone->ops.n; k++)
		*vec_add(&c->ops) = gone->ops.at[k];
	if (c->ops.n > 1)
		qsort(c->ops.at, c->ops.n, sizeof *c->ops.at, by_seq);
	forget_cell(f, gone);
	return c;
}

static void count_name(struct files *f, uint32_t file, int more)
{
	struct inode *i = files_inode(f, file);

	if (!i)
		return;
	i->nnames = more < 0 && i->nnames == 0 ? 0 : i->nnames + (uint32_t)more;
	i->has_changed = true;
}

static void lead(struct files *f, struct entry *e, uint32_t file, const struct trace_event *ev)
{
	struct inode *folder = files_inode(f, e->folder);

	count_name(f, e->now, -1);
	count_name(f, file, 1);
	files_inode_changed(files_inode(f, e->now), ev, false);
	files_inode_changed(files_inode(f, file), ev,
			    ev->kind == PMT_NAME && ev->arg[2] == PMT_NAMED_MADE);
	files_inode_changed(folder, ev, true);
	e->now = file;
	e->newest = change_of(ev, PMT_ADDR(file, 0));
	if (folder)
		folder->has_changed = true;
}

static void name_changed(struct files *f, struct entry *e, uint32_t file,
			 const struct trace_event *ev)
{
	struct cell *c = cell_of(f, e);

	*vec_add(&c->ops) =
		(struct name_op){ change_of(ev, PMT_ADDR(file, 0)), { e, NULL }, { file, 0 }, 1 };
	lead(f, e, file, ev);
}

static void step_name(struct files *f, const struct trace_event *ev)
{
	const bool is_before = ev->kind == PMT_NAME && ev->arg[2] == PMT_NAMED_BEFORE;
	const uint32_t file = (uint32_t)ev->arg[0];
	struct entry *e = entry_of(f, (uint32_t)ev->arg[1], ev->data, ev->data_len,
				   is_before || ev->kind == PMT_UNNAME ? file : 0);

	if (is_before)
		count_name(f, file, 1);
	else
		name_changed(f, e, ev->kind == PMT_UNNAME ? 0 : file, ev);
}

static void step_move(struct files *f, const struct trace_event *ev)
{
	const uint8_t *slash = memchr(ev->data, '/', ev->data_len);
	const uint32_t file = (uint32_t)ev->arg[0],
		       left = ev->arg[3] & RENAME_EXCHANGE_FLAG ? (uint32_t)ev->arg[4] : 0;
	struct entry *from, *to;
	size_t n;

	if (!slash)
		return;
	n = (size_t)(slash - ev->data);
	from = entry_of(f, (uint32_t)ev->arg[1], ev->data, n, file);
	to = entry_of(f, (uint32_t)ev->arg[2], slash + 1, ev->data_len - n - 1,
		      (uint32_t)ev->arg[4]);
	if (ev->arg[4] && !(ev->arg[3] & RENAME_EXCHANGE_FLAG) && files_inode(f, file))
		files_replaces(f, files_inode(f, file), ev);
	if (from->folder != to->folder) {
		name_changed(f, to, file, ev);
		name_changed(f, from, left, ev);
		return;
	}
	*vec_add(&tie(f, from, to)->ops) = (struct name_op){
		change_of(ev, PMT_ADDR(file, 0)), { from, to }, { left, file }, 2
	};
	lead(f, from, left, ev);
	lead(f, to, file, ev);
}

static void names_synced(struct files *f, uint32_t folder, bool is_all)
{
	for (size_t k = f->cells.n; k-- > 0;) {
		struct cell *c = f->cells.at[k];

		if (!is_all && c->entries.at[0]->folder != folder)
			continue;
		for (size_t e = 0; e < c->entries.n; e++) {
			c->entries.at[e]->durable = c->entries.at[e]->now;
			c->entries.at[e]->cell = NULL;
		}
		forget_cell(f, c);
	}
}

/* ---- syncs ---- */

static void content_synced(struct inode *i)
{
	for (size_t k = 0; k < i->unsynced.n; k++)
		sector_synced(i->unsynced.at[k]);
	i->unsynced.n = 0;
	size_synced(i);
}

static void note_sync(struct inode *i, const struct trace_event *ev)
{
	i->has_sync = true;
	i->has_changed = false;
	i->sync = change_of(ev, PMT_ADDR(i->number, 0));
}

/* The journal is durable up to this event. */
static void commit(struct files *f, uint64_t seq)
{
	if (seq > f->journaled)
		f->journaled = seq;
}

static void step_fsync(struct files *f, const struct trace_event *ev)
{
	struct inode *i = files_inode(f, ev->arg[0]);

	if (ev->arg[0] == 0) {
		f->journaled = ev->seq;
		for (size_t k = 0; k < f->inodes.n; k++)
			if (f->inodes.at[k]) {
				content_synced(f->inodes.at[k]);
				note_sync(f->inodes.at[k], ev);
			}
		names_synced(f, 0, true);
		return;
	}
	if (!i)
		return;
	commit(f, ev->kind == PMT_FDATASYNC ? i->blocks_seq : i->changed_seq);
	content_synced(i);
	if (i->flags & PMT_FILE_FOLDER)
		names_synced(f, i->number, false);
	note_sync(i, ev);
}

static void step_msync(struct files *f, const struct trace_event *ev)
{
	struct inode *i = files_inode(f, PMT_FILE(ev->addr));
	const uint64_t from = ev->addr / PAGE_BYTES * PAGE_BYTES, to = ev->addr + ev->arg[0];
	size_t n = 0;

	if (!i || !(ev->arg[1] & MS_SYNC_FLAG))
		return;
	for (size_t k = 0; k < i->unsynced.n; k++) {
		struct sector *s = i->unsynced.at[k];

		if (s->addr + FILES_SECTOR_BYTES <= from ||
		    s->addr >= (to + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES)
			i->unsynced.at[n++] = s;
		else
			sector_synced(s);
	}
	i->unsynced.n = n;
	commit(f, i->blocks_seq);
	files_written_in_part(i);
	size_synced(i);
	i->has_sync = true;
	i->sync = change_of(ev, ev->addr);
	i->has_changed = n > 0;
}

static void step_file(struct files *f, const struct trace_event *ev)
{
	struct inode *i;

	if (!(ev->arg[2] & PMT_FILE_FOLLOWED) || ev->arg[0] >> (64 - PMT_OFFSET_BITS) ||
	    files_inode(f, ev->arg[0]))
		return;
	while (f->inodes.n <= ev->arg[0])
		*vec_add(&f->inodes) = NULL;
	f->inodes.at[ev->arg[0]] = i = xcalloc(1, sizeof *i);
	i->number = (uint32_t)ev->arg[0];
	i->flags = (uint32_t)ev->arg[2];
	*vec_add(&i->sizes) = (struct size){ .bytes = ev->arg[1] };
	if (ev->arg[2] & PMT_FILE_CREATED)
		files_inode_changed(i, ev, true);
}

void files_step(struct files *f, const struct trace_event *ev)
{
	if (trace_is_store(ev->kind))
		step_store(f, ev);
	else if (ev->kind == PMT_WRITE)
		step_write(f, ev);
	else if (ev->kind == PMT_SYNC_RANGE)
		files_written_in_part(files_inode(f, PMT_FILE(ev->addr)));
	else if (ev->kind == PMT_FILE)
		step_file(f, ev);
	else if (ev->kind == PMT_CONTENT)
		step_content(f, ev);
	else if (ev->kind == PMT_SIZE)
		step_size(f, ev);
	else if (ev->kind == PMT_FALLOCATE)
		step_fallocate(f, ev);
	else if (ev->kind == PMT_NAME || ev->kind == PMT_UNNAME)
		step_name(f, ev);
	else if (ev->kind == PMT_MOVE)
		step_move(f, ev);
	else if (ev->kind == PMT_FSYNC || ev->kind == PMT_FDATASYNC)
		step_fsync(f, ev);
	else if (ev->kind == PMT_MSYNC)
		step_msync(f, ev);
}

/* ---- questions ---- */

uint32_t files_last(const struct files *f)
{
	return f->inodes.n ? (uint32_t)f->inodes.n - 1 : 0;
}

bool files_is_regular(const struct files *f, uint32_t file)
{
	const struct inode *i = files_inode(f, file);

	return i && !(i->flags & (PMT_FILE_FOLDER | PMT_FILE_SYMLINK));
}

uint64_t files_size(const struct files *f, uint32_t file)
{
	const struct inode *i = files_inode(f, file);

	return i ? i->sizes.at[i->sizes.n - 1].bytes : 0;
}

uint32_t files_nnames(const struct files *f, uint32_t file)
{
	const struct inode *i = files_inode(f, file);

	return i ? i->nnames : 0;
}

bool files_unsynced(const struct files *f, uint32_t file, struct files_change *newest)
{
	const struct inode *i = files_inode(f, file);
	bool is_any = i && i->is_size_unsynced;

	if (is_any)
		*newest = i->size_change;
	for (size_t k = 0; i && k < i->unsynced.n; k++)
		if (!is_any || i->unsynced.at[k]->newest.seq > newest->seq) {
			*newest = i->unsynced.at[k]->newest;
			is_any = true;
		}
	return is_any;
}

void files_each_unsynced(const struct files *f, uint32_t file,
			 void (*tell)(const struct files_change *c, void *arg), void *arg)
{
	const struct inode *i = files_inode(f, file);

	for (size_t k = 0; i && k < i->unsynced.n; k++)
		tell(&i->unsynced.at[k]->newest, arg);
	if (i && i->is_size_unsynced)
		tell(&i->size_change, arg);
}

bool files_sector_unsynced(const struct files *f, uint64_t addr)
{
	const struct sector *s = map_get(&f->sectors, addr / FILES_SECTOR_BYTES);

	return s && s->is_unsynced;
}

const struct files_change *files_last_sync(const struct files *f, uint32_t file)
{
	const struct inode *i = files_inode(f, file);

	return i && i->has_sync ? &i->sync : NULL;
}

bool files_changed_since(const struct files *f, uint32_t file)
{
	const struct inode *i = files_inode(f, file);

	return i && i->has_changed;
}

void files_each_name(const struct files *f, void (*tell)(const struct files_name *n, void *arg),
		     void *arg)
{
	for (size_t k = 0; k < f->entries.n; k++) {
		const struct entry *e = f->entries.at[k];

		if (e->cell && e->newest.seq != 0)
			tell(&(struct files_name){ .change = e->newest,
						   .name = e->name,
						   .folder = e->folder,
						   .file = e->now,
						   .before = e->durable },
			     arg);
	}
}
