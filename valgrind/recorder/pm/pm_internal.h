/* What the files of PM share. Bottom first: below.c and ranges.c and made.c and kept.c, handed.c
 * and old.c, files.c, followed.c, beside.c, mappings.c and written.c, registered.c. */
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
Bool followed_is_folder(const HChar *path); /* one of --files */

/* ---- ranges.c ---- */
Bool ranges_are_none(void);
void range_insert(Addr va, SizeT len, ULong addr);
void range_remove(Addr va, SizeT len); /* parts of others stay */
void other_insert(Addr va, SizeT len); /* a shared mapping of a file that is not PM to us */
void other_remove(Addr va, SizeT len);
Bool other_has(Addr a);

/* ---- made.c ---- */
Bool file_path(Int fd, HChar *path, SizeT cap);
/* the trace is told of it: of several names, this one counts */
void made_is_mapped_as(const struct vg_stat *st, const HChar *path);
/* it has a name more; what is missing in the trace then, NULL: nothing */
const HChar *made_linked(const HChar *path);
/* of PMT_FILE: what is known of a file that was made; 0: it was not */
ULong made_flags(const struct vg_stat *st);
/* what is not known of it, in words; NULL: nothing */
const HChar *made_unseen(const struct vg_stat *st);
/* somebody maps it, and --pm leaves that out */
void made_mapped(const struct vg_stat *st);
void made_note(ULong dev, ULong ino);            /* this program made it just now */
Bool file_was_created(const struct vg_stat *st); /* by this process or one that shares its table */
/* the number of events when it was, with its name; 0: that is not known */
ULong file_durable_since(const struct vg_stat *st);

/* ---- kept.c ---- */
Int kept_find(UInt file); /* our own descriptor, which reads; -1: there is none */
/* the same; opens one where the program has fd; to be given to kept_close() */
Int kept_open(UInt file, Int fd);
void kept_close(UInt file, Int own); /* if it is not one that stays open */
void kept_send(UInt file, Int own);  /* to whoever records */
void kept_drop(UInt file);           /* it has no name any more */

/* ---- handed.c ---- */
/* it is mapped for the first time, there */
void handed_device(ThreadId tid, UInt file, Int fd, ULong size, Addr va, ULong offset, SizeT len);
void handed_mapped(UInt file); /* a mapping of it is made */

/* ---- files.c ---- */
Bool file_may_be_pm(const HChar *path); /* by its name: --pm */
/* path: a buffer that is used again */
Bool file_is_pm(Int fd, const struct vg_stat *st, const HChar **path);
/* of a device; if nobody knows, as much as is mapped of it */
ULong file_device_bytes(const struct vg_stat *st, ULong mapped);
/* its number; tells the trace about it the first time */
UInt file_of_mapping(ThreadId tid, Int fd, const struct vg_stat *st, const HChar *path,
		     Bool *is_new);

/* ---- old.c ---- */
/* a PM file is to be mapped */
void old_mapped(ThreadId tid, Int fd, const struct vg_stat *st, const HChar *path);

/* ---- beside.c ---- */
void beside_add_folder(const HChar *path); /* of a PM file */

/* ---- mappings.c ---- */
void mapping_event(ThreadId tid, enum pmt_kind kind, Addr va, ULong addr, SizeT len, UInt prot);

#endif
