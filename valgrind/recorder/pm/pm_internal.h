/* What the files of pm/ share. From bottom to top: below.c, ranges.c, made.c and own_fds.c;
 * renamed.c, old_bytes_fill.c and stop_at_old.c; files.c; followed.c; beside.c; mappings.c and
 * written.c; registered.c. */
#ifndef REC_PM_INTERNAL_H
#define REC_PM_INTERNAL_H

#include "valgrind/recorder/pm/pm.h"

#include "pub_tool_libcfile.h"

struct area {
	Addr va;
	SizeT len_bytes;
};

#define GROW(array, n, cap) \
	do { \
		if ((n) == (cap)) { \
			(cap) = (cap) ? 2 * (cap) : 16; \
			(array) = VG_(realloc)("pmend." #array, (array), (cap) * sizeof *(array)); \
		} \
	} while (0)

/* ---- below.c ---- */

/* ---- ranges.c ---- */
Bool ranges_are_none(void);
void range_insert(Addr va, SizeT len, ULong addr);
void range_remove(Addr va, SizeT len); /* parts of mappings outside the range stay */
void other_insert(Addr va, SizeT len); /* a shared mapping of a file that does not count as PM */
void other_remove(Addr va, SizeT len);
Bool other_has(Addr a);

/* ---- made.c ---- */
Bool file_path(Int fd, HChar *path, SizeT cap);
/* Writes to the trace what is known about a made file that is mapped now. If it has several names,
 * the one by which it is mapped counts. */
void made_is_mapped_as(const struct vg_stat *st, const HChar *path);
/* Notes a further name of a made file. Returns what is missing in the trace because of it; NULL:
 * nothing. */
const HChar *made_linked(const HChar *path);
/* Gives flags of PMT_FILE: what is known about a made file. 0: the program did not make it. */
ULong made_flags(const struct vg_stat *st);
/* Writes to the trace where a file was made and resized before it was mapped, if this process did
 * it. */
void made_tell_calls(UInt file, const struct vg_stat *st);
/* Says what is not known about a made file; NULL: nothing is unknown. */
const HChar *made_unseen(const struct vg_stat *st);
/* Notes that some process maps a file that --pm excludes. */
void made_mapped(const struct vg_stat *st);
void made_note(ULong dev, ULong ino);            /* this program has just made it */
Bool file_was_created(const struct vg_stat *st); /* by this process, or one that shares its table */
/* Gives the number of events that there were when the file was durable under its present name; 0:
 * unknown. */
ULong file_durable_since(const struct vg_stat *st);

/* ---- own_fds.c ---- */
Int kept_find(UInt file); /* our own descriptor, which can read; -1: there is none */
/* Like kept_find(), but opens a descriptor if there is none, from the program's fd. kept_close()
 * it. */
Int kept_open(UInt file, Int fd);
void kept_close(UInt file, Int own); /* unless it is one that stays open */
void kept_send(UInt file, Int own);  /* to `pmend record` */
void kept_drop(UInt file);           /* the file has no name any more */

/* ---- old_bytes_fill.c ---- */
/* Fills a device, which is being mapped for the first time, at va. */
void handed_device(ThreadId tid, UInt file, Int fd, ULong size, Addr va, ULong offset, SizeT len);
void handed_mapped(UInt file); /* a mapping of the file is made */

/* ---- files.c ---- */
Bool file_may_be_pm(const HChar *path); /* by its name: --pm */
/* Asks whether the file is PM. *path: its path, in a buffer that the next call overwrites. */
Bool file_is_pm(Int fd, const struct vg_stat *st, const HChar **path);
/* Gives the size of a device; if that is unknown, the size of its mapping. */
ULong file_device_bytes(const struct vg_stat *st, ULong mapped);
/* Gives the number of a file that is mapped. Writes the file to the trace when it is mapped for the
 * first time. */
UInt file_of_mapping(ThreadId tid, Int fd, const struct vg_stat *st, const HChar *path,
		     Bool *is_new);

/* ---- stop_at_old.c ---- */
/* Called before a PM file is mapped: with --stop-at-old, ends the program if the file existed
 * before it. */
void old_mapped(ThreadId tid, Int fd, const struct vg_stat *st, const HChar *path);

/* ---- beside.c ---- */
void beside_add_folder(const HChar *path); /* the folder of a PM file */

/* ---- mappings.c ---- */
void mapping_event(ThreadId tid, enum pmt_kind kind, Addr va, ULong addr, SizeT len, UInt prot);

#endif
