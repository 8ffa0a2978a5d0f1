/* Knows of the file behind a descriptor its path, of a PM file the name that it has in the trace,
 * and whether this program made it (for the last MAX_CREATED files). A file that the program made
 * had no content before. If it is mapped late, it existed before that: from the moment at which all
 * of it was synced under its present name. */
#include "valgrind/common/memory.h"
#include "valgrind/common/sys.h"
#include "valgrind/recorder/out/chunk.h"
#include "valgrind/recorder/out/options.h"
#include "valgrind/recorder/out/shared.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/pm/pm_internal.h"

#include "pub_tool_aspacemgr.h"

#define MAX_CREATED 4096
#define MAX_ABOVE 4 /* folders */
#define MAX_LINKED 64
struct inode {
	ULong dev, ino;
};
struct made {
	struct inode id;
	struct inode above[MAX_ABOVE]; /* its folder, the folder of that, ... */
	ULong named;                   /* number of events when it got its present name */
	/* number of events when everything written to it was durable; 0: not everything is */
	ULong synced;
	ULong nchanges;    /* number of changes of its content so far */
	Bool has_unsynced; /* it has bytes that only a sync of the whole file makes durable */
	Bool is_whole;     /* everything was durable when it got its present name */
	Bool is_mapped;    /* stores may be unseen, because --pm excludes its mapping */
	/* the calls that made it and gave it its size, in the program with this stream */
	struct emit_at created, resized;
	UInt stream;
	enum made_in_place_of in_place_of; /* what had that name before */
};
/* The table of made files. All recorded processes share it. Without --memory-file only forked ones
 * do, and an executed program has its own. */
static struct made_table {
	UInt n;
	Bool has_strangers; /* other processes may change files, which is not noted here */
	struct made files[MAX_CREATED];
	/* Names by link, the last ones. Descriptors that are older do not tell them. */
	UInt nlinked;
	struct linked {
		struct inode id;
		ULong named, nchanges; /* of the file, then */
		Bool is_whole;
		HChar path[PMT_PAGE_BYTES];
	} linked[MAX_LINKED];
	/* by number of the PM file: its present name in the trace; empty: not known */
	HChar names[PMT_MAX_FILES + 1][PMT_PAGE_BYTES];
} * g_made;
_Static_assert(sizeof(struct made_table) <= PMT_MEMORY_BYTES, "it is in the shared memory");
static Bool g_is_shared_by_all;

void made_begin(void)
{
	struct vg_stat st;
	SysRes r;

	if (clo_memory_file == NULL)
		return;
	r = VG_(open)(clo_memory_file, VKI_O_RDWR, 0);
	if (sr_isError(r))
		return;
	if (VG_(fstat)(sr_Res(r), &st) == 0 && st.ino == clo_memory_inode) {
		g_made = memory_alloc(sizeof *g_made);
		g_is_shared_by_all =
			sys_mmap(g_made, sizeof *g_made, VKI_PROT_READ | VKI_PROT_WRITE,
				 VKI_MAP_SHARED | VKI_MAP_FIXED, sr_Res(r), 0) >= 0;
		if (!g_is_shared_by_all)
			g_made = NULL;
	}
	VG_(close)(sr_Res(r));
}

static struct made_table *table(void)
{
	if (g_made == NULL) {
		g_made = memory_alloc(sizeof *g_made);
		g_made->has_strangers =
			sys_mmap(g_made, sizeof *g_made, VKI_PROT_READ | VKI_PROT_WRITE,
				 VKI_MAP_SHARED | VKI_MAP_ANONYMOUS | VKI_MAP_FIXED, -1, 0) < 0 ||
			g_shared != 0;
	}
	return g_made;
}

void made_before_fork(void)
{
	table();
}

void made_before_exec(void)
{
	if (g_made != NULL && g_shared && !(g_is_shared_by_all && clo_follow))
		g_made->has_strangers = True;
}

static Bool is_same(const struct inode *a, const struct inode *b)
{
	return a->dev == b->dev && a->ino == b->ino;
}

static struct linked *linked_find(const struct inode *id)
{
	const UInt all = g_made ? g_made->nlinked : 0;

	for (UInt n = 1; n <= all && n <= MAX_LINKED; n++) {
		struct linked *l = &g_made->linked[(all - n) % MAX_LINKED];

		if (is_same(&l->id, id))
			return l;
	}
	return NULL;
}

/* Finds another name of an open file: the name by which it was opened is gone, or the file had none
 * and got one by link. */
static void find_other_name(Int fd, HChar *path, SizeT len, SizeT cap)
{
	static const HChar deleted[] = " (deleted)";
	const SizeT tail = sizeof deleted - 1;
	const struct linked *l;
	struct vg_stat st;

	if (len < tail || VG_(strcmp)(path + len - tail, deleted) != 0 ||
	    VG_(fstat)(fd, &st) != 0 || st.nlink == 0)
		return;
	l = linked_find(&(struct inode){ st.dev, st.ino });
	if (l != NULL && VG_(strlen)(l->path) < cap)
		VG_(strcpy)(path, l->path);
}

Bool file_path(Int fd, HChar *path, SizeT cap)
{
	HChar link[64];
	SSizeT n;

	VG_(sprintf)(link, "/proc/self/fd/%d", fd);
	n = VG_(readlink)(link, path, cap - 1);
	if (n <= 0)
		return False;
	path[n] = '\0';
	find_other_name(fd, path, n, cap);
	return True;
}

/* Fills m->above: the folders above the file. path: absolute, in a buffer that is changed. */
static void note_folders(struct made *m, HChar *path)
{
	HChar *slash;
	struct vg_stat st;

	VG_(memset)(m->above, 0, sizeof m->above);
	for (UInt i = 0; i < MAX_ABOVE && (slash = VG_(strrchr)(path, '/')) != NULL; i++) {
		*slash = '\0';
		if (!sr_isError(VG_(stat)(*path ? path : "/", &st)))
			m->above[i] = (struct inode){ st.dev, st.ino };
	}
}

static struct made *made_new(ULong dev, ULong ino)
{
	struct made *m =
		&table()->files[__atomic_fetch_add(&table()->n, 1, __ATOMIC_SEQ_CST) % MAX_CREATED];

	*m = (struct made){ .id = { dev, ino }, .named = g_out.header->seq };
	return m;
}

void made_note(ULong dev, ULong ino)
{
	made_new(dev, ino);
}

void pm_created(ThreadId tid, Int fd)
{
	static HChar path[PMT_PAGE_BYTES];
	struct vg_stat st;
	struct made *m;

	if (VG_(fstat)(fd, &st) != 0)
		return;
	m = made_new(st.dev, st.ino);
	m->created = emit_here(tid);
	m->stream = out_stream();
	if (file_path(fd, path, sizeof path))
		note_folders(m, path);
}

/* Finds the newest entry with this device and inode, because the inode may have been another file's
 * before. */
static struct made *made_find(ULong dev, ULong ino)
{
	const struct inode id = { dev, ino };
	const UInt made = g_made ? g_made->n : 0;

	for (UInt n = 1; n <= made && n <= MAX_CREATED; n++) {
		struct made *m = &g_made->files[(made - n) % MAX_CREATED];

		if (is_same(&m->id, &id))
			return m;
	}
	return NULL;
}

Bool file_was_created(const struct vg_stat *st)
{
	return made_find(st->dev, st->ino) != NULL;
}

/* ---- files that are not mapped yet ---- */

static struct made *made_of_fd(Int fd)
{
	struct vg_stat st;

	return g_made && g_made->n && VG_(fstat)(fd, &st) == 0 ? made_find(st.dev, st.ino) : NULL;
}

static void note_change(struct made *m)
{
	if (m == NULL)
		return;
	m->synced = 0;
	m->nchanges++;
	m->is_whole = False; /* a crash may leave less of its present content under its name */
}

void made_changed(Int fd)
{
	note_change(made_of_fd(fd));
}

void made_changed_at(const HChar *path)
{
	struct vg_stat st;

	if (g_made && g_made->n && !sr_isError(VG_(stat)(path, &st)))
		note_change(made_find(st.dev, st.ino));
}

void made_resized(ThreadId tid, Int fd)
{
	struct made *m = made_of_fd(fd);

	note_change(m);
	if (m != NULL && m->stream == out_stream())
		m->resized = emit_here(tid);
}

static void tell_call(const struct emit_at *at, const HChar *what, UInt file)
{
	HChar text[32];

	VG_(sprintf)(text, "%s=%u", what, file);
	if (at->pc != 0)
		emit_event_at(at, PMT_META, 0, NULL, text, VG_(strlen)(text));
}

void made_tell_calls(UInt file, const struct vg_stat *st)
{
	const struct made *m = made_find(st->dev, st->ino);

	/* with --files, the trace has the calls themselves */
	if (m == NULL || m->stream != out_stream() || followed_any())
		return;
	tell_call(&m->created, "created", file);
	tell_call(&m->resized, "resized", file);
}

/* Notes a write. A write that syncs makes its own bytes and the file's size durable. */
void made_written(Int fd, Bool is_synced)
{
	struct made *m = made_of_fd(fd);

	note_change(m);
	if (m != NULL && is_synced && !m->has_unsynced)
		m->synced = g_out.header->seq;
	else if (m != NULL)
		m->has_unsynced = True;
}

void made_mapped(const struct vg_stat *st)
{
	struct made *m = made_find(st->dev, st->ino);

	note_change(m);
	if (m != NULL)
		m->has_unsynced = m->is_mapped = True;
}

static void note_sync(struct made *m)
{
	if (m == NULL)
		return;
	if (m->synced == 0 || m->is_mapped) /* otherwise nothing has changed since the last sync */
		m->synced = g_out.header->seq;
	m->has_unsynced = False;
}

void made_synced(Int fd)
{
	note_sync(made_of_fd(fd));
}

void made_all_synced(void)
{
	for (UInt i = 0; g_made && i < g_made->n && i < MAX_CREATED; i++)
		note_sync(&g_made->files[i]);
}

void made_msynced(Addr va, SizeT len)
{
	const NSegment *seg = VG_(am_find_nsegment)(va);

	/* the range covers the whole mapping */
	if (seg != NULL && seg->kind == SkFileC && va == seg->start && va + len > seg->end)
		note_sync(made_find(seg->dev, seg->ino));
}

static void get_name(struct made *m, enum made_in_place_of what)
{
	m->named = g_out.header->seq;
	m->is_whole = m->synced != 0;
	m->in_place_of = what;
}

static Bool is_inside(const struct made *m, const struct inode *folder)
{
	for (UInt i = 0; i < MAX_ABOVE; i++)
		if (is_same(&m->above[i], folder))
			return True;
	return False;
}

/* Notes that a folder was renamed, which gives the files in it new names. Nothing had these names
 * before, because a folder can replace only an empty folder. */
static void folder_renamed(const struct inode *folder)
{
	for (UInt i = 0; i < g_made->n && i < MAX_CREATED; i++)
		if (is_inside(&g_made->files[i], folder))
			get_name(&g_made->files[i], MADE_ALONE);
}

static const HChar g_unrecorded[] =
	"a file was stored to through a mapping that is not recorded (--pm leaves it out, or the "
	"file had no name yet), before it got its name";

/* m: NULL if the program did not make the file. */
static void note_linked(const struct inode *id, const struct made *m, const HChar *name)
{
	const UInt n = __atomic_fetch_add(&table()->nlinked, 1, __ATOMIC_SEQ_CST);
	struct linked *l = &table()->linked[n % MAX_LINKED];

	l->id = *id;
	l->named = g_out.header->seq;
	l->nchanges = m ? m->nchanges : 0;
	l->is_whole = m && m->synced != 0;
	VG_(strncpy)(l->path, name, sizeof l->path - 1);
}

void made_renamed(const HChar *name, enum made_in_place_of what)
{
	static HChar path[PMT_PAGE_BYTES];
	struct vg_stat st;
	struct made *m;

	if (!g_made || !g_made->n || sr_isError(VG_(stat)(name, &st)))
		return;
	m = made_find(st.dev, st.ino);
	if (VKI_S_ISDIR(st.mode))
		folder_renamed(&(struct inode){ st.dev, st.ino });
	if (m == NULL)
		return;
	get_name(m, what);
	if (linked_find(&m->id) != NULL)
		note_linked(&m->id, m, name);
	VG_(strncpy)(path, name, sizeof path - 1);
	note_folders(m, path);
}

/* ---- names in the trace ---- */

void name_is(UInt file, const HChar *path)
{
	if (file <= PMT_MAX_FILES)
		VG_(strncpy)(table()->names[file], path, sizeof g_made->names[file] - 1);
}

const HChar *name_of(UInt file)
{
	return g_made != NULL && file <= PMT_MAX_FILES ? g_made->names[file] : "";
}

static Bool leads_to(const HChar *path, const struct inode *id)
{
	struct vki_stat st;

	return path[0] != '\0' && sys_lstat(path, &st) >= 0 && st.st_dev == id->dev &&
	       st.st_ino == id->ino;
}

Bool name_holds(UInt file, ULong dev, ULong ino)
{
	return leads_to(name_of(file), &(struct inode){ dev, ino });
}

const HChar *name_after(UInt file, ULong dev, ULong ino)
{
	const struct inode id = { dev, ino };
	const UInt all = g_made ? g_made->nlinked : 0;

	if (leads_to(name_of(file), &id))
		return NULL;
	/* its first link that is left: it gets its own name before further ones */
	for (UInt n = all > MAX_LINKED ? all - MAX_LINKED : 0; n < all; n++) {
		const struct linked *l = &g_made->linked[n % MAX_LINKED];

		if (is_same(&l->id, &id) && leads_to(l->path, &id))
			return l->path;
	}
	return NULL;
}

/* Notes a name that a file got by link. A file that has had no name until now (O_TMPFILE) gets its
 * first one; another file has one more name, and which of them counts is known when the file is
 * mapped. */
const HChar *made_linked(const HChar *name)
{
	static HChar path[PMT_PAGE_BYTES];
	struct vg_stat st;
	struct made *m;

	if (!g_made || sr_isError(VG_(stat)(name, &st)))
		return NULL;
	m = made_find(st.dev, st.ino);
	if (m == NULL && shared_file_find(st.dev, st.ino) == 0)
		return NULL;
	note_linked(&(struct inode){ st.dev, st.ino }, m, name);
	if (m == NULL)
		return NULL;
	if (st.nlink != 1)
		return NULL;
	get_name(m, MADE_ALONE);
	VG_(strncpy)(path, name, sizeof path - 1);
	note_folders(m, path);
	return m->is_mapped ? g_unrecorded : NULL;
}

void made_is_mapped_as(const struct vg_stat *st, const HChar *path)
{
	struct made *m = made_find(st->dev, st->ino);
	const struct linked *l = m ? linked_find(&m->id) : NULL;

	if (l == NULL || l->named < m->named || VG_(strcmp)(l->path, path) != 0)
		return;
	m->named = l->named;
	m->is_whole = l->is_whole && l->nchanges == m->nchanges;
	m->in_place_of = MADE_ALONE;
}

ULong made_flags(const struct vg_stat *st)
{
	const struct made *m = made_find(st->dev, st->ino);

	if (m == NULL)
		return 0;
	if (g_made->has_strangers)
		return PMT_FILE_CREATED;
	return PMT_FILE_CREATED | (m->is_whole ? PMT_FILE_WHOLE : 0) |
	       (m->is_whole && m->in_place_of != MADE_ALONE ? PMT_FILE_REPLACED : 0);
}

const HChar *made_unseen(const struct vg_stat *st)
{
	const struct made *m = made_find(st->dev, st->ino);

	if (m == NULL || !m->is_whole || g_made->has_strangers)
		return NULL;
	if (m->is_mapped)
		return g_unrecorded;
	if (m->in_place_of == MADE_REPLACED_UNKNOWN)
		return "a file was replaced by rename; what the old one held is not known";
	return NULL;
}

ULong file_durable_since(const struct vg_stat *st)
{
	const struct made *m = made_find(st->dev, st->ino);

	if (m == NULL || m->synced == 0)
		return 0;
	return m->synced > m->named ? m->synced : m->named;
}
