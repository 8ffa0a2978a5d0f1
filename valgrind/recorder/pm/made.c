/* What a descriptor is: its path, and whether this program made the file (the last MAX_CREATED of
 * them are known). A file that the program made had no content before. If it is mapped late, it was
 * there before that: from when all of it was synced, under the name that it has. */
#include "valgrind/common/sys.h"
#include "valgrind/recorder/out/chunk.h"
#include "valgrind/recorder/pm/pm_internal.h"

#define MAX_CREATED 4096
static struct made {
	ULong dev, ino;
	ULong named;   /* the number of events when it got its present name */
	ULong synced;  /* when all that was written to it became durable; 0: not all is */
	Bool is_whole; /* all was durable when it got its present name */
	enum made_in_place_of in_place_of; /* when it got that name */
} g_created[MAX_CREATED];
static UInt g_ncreated;

Bool file_path(Int fd, HChar *path, SizeT cap)
{
	HChar link[64];
	SSizeT n;

	VG_(sprintf)(link, "/proc/self/fd/%d", fd);
	n = VG_(readlink)(link, path, cap - 1);
	if (n <= 0)
		return False;
	path[n] = '\0';
	return True;
}

void pm_created(Int fd)
{
	struct vg_stat st;

	if (VG_(fstat)(fd, &st) != 0)
		return;
	g_created[g_ncreated++ % MAX_CREATED] =
		(struct made){ .dev = st.dev, .ino = st.ino, .named = g_out.header->seq };
}

/* The newest: an inode may have been another file's before. */
static struct made *made_find(const struct vg_stat *st)
{
	for (UInt n = 1; n <= g_ncreated && n <= MAX_CREATED; n++) {
		struct made *m = &g_created[(g_ncreated - n) % MAX_CREATED];

		if (m->dev == st->dev && m->ino == st->ino)
			return m;
	}
	return NULL;
}

Bool file_was_created(const struct vg_stat *st)
{
	return made_find(st) != NULL;
}

/* ---- files that are not mapped yet ---- */

static struct made *made_of_fd(Int fd)
{
	struct vg_stat st;

	return g_ncreated > 0 && VG_(fstat)(fd, &st) == 0 ? made_find(&st) : NULL;
}

static void note_change(struct made *m)
{
	if (m == NULL)
		return;
	m->synced = 0;
	m->is_whole = False; /* of what it has now, less may be seen under its name */
}

void made_changed(Int fd)
{
	note_change(made_of_fd(fd));
}

static struct made *made_at(const HChar *path)
{
	struct vg_stat st;

	return g_ncreated == 0 || sr_isError(VG_(stat)(path, &st)) ? NULL : made_find(&st);
}

void made_changed_at(const HChar *path)
{
	note_change(made_at(path));
}

void made_synced(Int fd)
{
	struct made *m = made_of_fd(fd);

	if (m != NULL)
		m->synced = g_out.header->seq;
}

void made_all_synced(void)
{
	for (UInt i = 0; i < g_ncreated && i < MAX_CREATED; i++)
		g_created[i].synced = g_out.header->seq;
}

void made_renamed(const HChar *path, enum made_in_place_of what)
{
	struct made *m = made_at(path);

	if (m == NULL)
		return;
	m->named = g_out.header->seq;
	m->is_whole = m->synced != 0;
	m->in_place_of = what;
}

ULong made_flags(const struct vg_stat *st)
{
	const struct made *m = made_find(st);

	if (m == NULL)
		return 0;
	if (g_shared) /* another process may have changed it, unseen by this one */
		return PMT_FILE_CREATED;
	return PMT_FILE_CREATED | (m->is_whole ? PMT_FILE_WHOLE : 0) |
	       (m->is_whole && m->in_place_of != MADE_ALONE ? PMT_FILE_REPLACED : 0);
}

Bool made_replaced_unknown(const struct vg_stat *st)
{
	const struct made *m = made_find(st);

	return m != NULL && m->in_place_of == MADE_REPLACED_UNKNOWN;
}

ULong file_durable_since(const struct vg_stat *st)
{
	const struct made *m = made_find(st);

	if (m == NULL || m->synced == 0)
		return 0;
	return m->synced > m->named ? m->synced : m->named;
}
