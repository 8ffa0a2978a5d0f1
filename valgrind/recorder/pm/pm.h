/* Knows what memory is PM. A byte of PM is identified by its file and the offset in it. */
#ifndef REC_PM_H
#define REC_PM_H

#include "valgrind/recorder/out/basics.h"

#define GRANULE_SHIFT 16
#define GRANULES (1u << 20)
#define GRANULE_REACH_BYTES 4096
extern UChar g_granules[GRANULES]; /* nonzero: PM may be in this 64 KiB granule (modulo 64 GiB) */

struct range { /* a mapping, or a part of one */
	Addr va;
	SizeT len_bytes;
	ULong addr; /* PM address of va */
};
extern struct hit { /* where PM was found last */
	Addr va;
	/* number of bytes from va for which va + PMT_STORE_MAX_BYTES is still PM; 0: unknown */
	SizeT room;
	ULong addr;
} g_hit;
const struct range *pm_find(Addr a);
Bool pm_addr(Addr a, ULong *addr);
Bool pm_is_volatile(Addr a); /* certainly volatile: anonymous memory, or a private mapping */
void pm_glob(const HChar *glob);
void pm_mapped(ThreadId tid, Addr va, SizeT len, UInt prot, UInt flags, Int fd, ULong offset);
void pm_unmapped(ThreadId tid, Addr va, SizeT len);
void pm_moved(ThreadId tid, Addr from, SizeT from_len, Addr to, SizeT to_len);
void pm_protected(ThreadId tid, Addr va, SizeT len, UInt prot);
void pm_each(Addr va, SizeT len, void (*f)(Addr va, ULong addr, SizeT len, void *arg), void *arg);
void pm_created(ThreadId tid, Int fd);
/* Finds the table of made files that all recorded processes share. The next functions prepare it
 * for processes that this one starts. */
void made_begin(void);
void made_before_fork(void);
void made_before_exec(void);
/* Adds a folder of --files. This function and the next ones are about files below such folders
 * (below.c, followed.c). */
void followed_add(const HChar *folder); /* absolute, without symbolic links */
void followed_except(const HChar *glob);
Bool followed_any(void);
/* Records all files below the folders, at the beginning of the first program. */
void followed_begin(ThreadId tid);
const HChar *followed_folder(UInt i);    /* NULL: there are no more */
const HChar *followed_exception(UInt i); /* NULL: there are no more */
/* Gives the followed folder that contains an absolute, real path; NULL: none does. */
const HChar *followed_folder_of(const HChar *path);
Bool followed_has(const HChar *path); /* the same, unless the path is an exception */
/* Gives the number of a followed file; 0: the file is not followed. To be called before the file is
 * changed, because the content of a new file is recorded now. */
UInt followed_fd(ThreadId tid, Int fd);
UInt followed_at(ThreadId tid, const HChar *path); /* of a symbolic link itself, not its target */
UInt followed_target(ThreadId tid, const HChar *path);
/* Writes to the trace, after a call, that it made a file with the name `path`. The next functions
 * do so for an open file, and for a name that was linked, removed or moved. `file` and `replaced`
 * were looked up before the call. */
void followed_made(ThreadId tid, const HChar *path);
void followed_made_fd(ThreadId tid, Int fd);
void followed_linked(ThreadId tid, const HChar *path);
void followed_removed(ThreadId tid, UInt file, const HChar *path);
void followed_moved(ThreadId tid, UInt file, UInt replaced, const HChar *from, const HChar *to,
		    UInt flags);
/* Notes that a file was changed which this program made and may map later. The next functions note
 * that it was written (is_synced: the written bytes are durable), that it is durable now, or that
 * it has another name. */
void made_changed(Int fd);
void made_resized(ThreadId tid, Int fd);
void made_written(Int fd, Bool is_synced);
void made_changed_at(const HChar *path);
void made_synced(Int fd);
void made_msynced(Addr va, SizeT len);
void made_all_synced(void);
/* What had that path before: nothing, a PM file of the trace, or another file. */
enum made_in_place_of { MADE_ALONE, MADE_REPLACED_KNOWN, MADE_REPLACED_UNKNOWN };
void made_renamed(const HChar *path, enum made_in_place_of what);
/* Notes the present name of a PM file in the trace. */
void name_is(UInt file, const HChar *path);
const HChar *name_of(UInt file); /* empty: not known */
/* Gives the name that a PM file with this inode has now, if the one in the trace leads there no
 * more; NULL: it still does, or no other name is known. */
const HChar *name_after(UInt file, ULong dev, ULong ino);
Bool name_holds(UInt file, ULong dev, ULong ino); /* does the one in the trace lead there? */
/* Follows, before and after a rename, the PM files below what is renamed, if it is a folder. */
void folder_renames(ThreadId tid, const HChar *from);
void folder_renamed_to(ThreadId tid, const HChar *to);
/* Notes that a file got one more name, by link. */
void pm_linked(ThreadId tid, const HChar *path);
void old_may_touch(const HChar *path);
/* Ends the program with --stop-at-old, and so does not return, if the file existed before the
 * program began. old_path_changes() does the same. follow: follow a symbolic link. */
void old_fd_changes(ThreadId tid, Int fd);
void old_fd_made(ThreadId tid, Int fd); /* returns; writes the file to the trace */
void old_path_changes(ThreadId tid, const HChar *path, Bool follow);
/* Notes a file that is not PM, before it changes. The next functions note the file after it has
 * changed, that it was written, and that it was renamed. */
void beside_before(ThreadId tid, const HChar *path);
void beside_before_fd(ThreadId tid, Int fd);
void beside_after(ThreadId tid, const HChar *path);
void beside_after_fd(ThreadId tid, Int fd);
void beside_written(ThreadId tid, Int fd);
void beside_renamed(ThreadId tid, const HChar *from, const HChar *to);
/* Blocks that allocators announce as given out or taken back, for --old-bytes. */
enum handed_way { HANDED_POOL, HANDED_MALLOC, HANDED_WAYS };
enum handed_access { HANDED_NOACCESS, HANDED_UNDEFINED, HANDED_DEFINED };
void handed_named(Addr va); /* blocks of this file will be named */
void handed_block(ThreadId tid, enum handed_way way, Addr va, SizeT len, Bool is_undefined);
void handed_back(enum handed_way way, Addr va);
void handed_resized(ThreadId tid, enum handed_way way, Addr va, SizeT old, SizeT len);
void handed_moved(ThreadId tid, enum handed_way way, Addr from, Addr to, SizeT len);
void handed_access(ThreadId tid, enum handed_access access, Addr va, SizeT len);
/* Notes a range of a file that has lost what the program stored there; the range contains zeros
 * now. file may be 0. */
void handed_zeroed(UInt file, ULong offset, ULong len);
UInt pm_file_of_fd(Int fd); /* 0: not PM */
/* Gives the number of the PM file with this path; 0: it is not PM. follow: follow a symbolic
 * link. */
UInt pm_file_of_path(const HChar *path, Bool follow, UInt *nlink);
void pm_file_gone(UInt file);
/* Notes that a call changed the file. Does something only if the file has no name any more. */
void pm_gone_changed(ThreadId tid, Int fd);
/* Notes that the file has this size now. file may be 0, and the size may be unchanged. */
void pm_file_resized(ThreadId tid, UInt file, ULong size);
void pm_register(Addr va, SizeT len); /* memory that a program declares to be PM */
void pm_unregister(Addr va, SizeT len);
UWord pm_registered(Addr va, SizeT len);           /* 0: no, 1: yes, 2: in part */
void pm_written(ThreadId tid, Addr va, SizeT len); /* the kernel wrote there */
void pm_file_written(ThreadId tid, Int fd, ULong offset, SizeT len);
/* Like pm_file_written(), for a file that some process has mapped, perhaps not this one. */
void pm_inode_written(ThreadId tid, ULong dev, ULong ino, const HChar *path, ULong offset,
		      SizeT len);

#endif
