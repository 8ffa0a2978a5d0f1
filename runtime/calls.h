/* Makes or changes those system calls of the program that concern PM, its files, or the runtime
 * itself. */
#ifndef RUNTIME_CALLS_H
#define RUNTIME_CALLS_H

#include "pm.h"

#define NO_ROOM \
	"there is no space left for what recovery writes to PM files (set TMPDIR to a folder with more)"
#define CALL_PASS (-100000l) /* the program shall make the call itself */

/* ---- memory that a call accesses: calls/buffers.c ---- */

void buffers_init(void);
bool buffers_touch(long number, const long a[6]);
void buffers_before(long number, const long a[6]);
void buffers_after(long number, const long a[6], long result);
/* Gives the total length of an iovec, which it reads safely. */
uint64_t buffers_iov_bytes(uint64_t iov, uint64_t n);

/* calls/perform.c: makes a call whose buffers may be in PM */
long calls_perform(long number, long a[6]);
long calls_wait(long number, const long a[6]); /* the same for buffers that are not in PM */

/* ---- calls/: each function returns CALL_PASS if the call is not its own ---- */

/* Makes a call that has the path of a PM file, or of a file beside one. */
long paths_call(long number, long a[6]);
long dirents_call(long number, long a[6]);
long fileio_call(long number, long a[6]); /* calls with an image's descriptor */
long map_call(long number, long a[6]);    /* mmap and the like */
long map_advise(const long a[6]);         /* madvise */
long clone_call(long number, long a[6], ucontext_t *uc);
long exec_call(long number, long a[6]);
void exec_init(void);
long root_call(long number, long a[6]);          /* calls with the path of a folder, in a bundle */
long sandbox_call(long number, const long a[6]); /* seccomp */
long signal_call(long number, long a[6], ucontext_t *uc);

/* ---- paths: calls/names.c ---- */

/* Splits a path at its last slash; the folder is "." or "/" if the path has none. Returns the last
 * component; NULL: there is none. */
const char *name_split(char *path, const char **folder);
/* If the path is a symbolic link, replaces it, in a buffer of ROOT_PATH_ROOM, by the link's target.
 * False: it is no link. */
bool name_follow_link(long dirfd, char *path);
bool name_follow(char *path, const char *target); /* the same for a link with this target */

/* ---- the user's files beside PM files: calls/beside.c ---- */

struct path_call;
long beside_call(const struct path_call *c, long number, long a[6], uint64_t open_flags,
		 bool follows_links);
/* Makes a call that has two paths: rename and link. */
long beside_call_two(const struct path_call *c, long number, long a[6]);
/* Like name_follow_link(), for a link that recovery made. */
bool beside_follow_link(long dirfd, char *path);
/* Asks whether recovery has removed the user's file `name` in that image's folder. */
bool beside_is_gone(const struct run_file *f, const char *name);
/* Enumerates files that recovery made in that image's folder. *at is 0 at the beginning. False:
 * there are no more. */
bool beside_next(const struct run_file *f, long *at, char name[256]);

/* ---- the files of a bundle, from another machine: calls/root.c ---- */

#define ROOT_PATH_ROOM 4096u

#define CHANGED_ROOT \
	"recovery changes its root folder (chroot), and then names a file that pmend keeps outside of it"
/* Asks whether the program has called chroot(). Then our own paths mean nothing any more. */
bool root_is_changed(void);

void root_init(void);
bool root_is_there(void);
/* Turns an absolute path, in a buffer of ROOT_PATH_ROOM, into the same path under the root. False:
 * it is not absolute, or there is no root. */
bool root_enter(char *path);
/* Asks whether the file under the root is to be used for this path. */
bool root_takes(char *path);
/* Asks whether the descriptor is of a file under the root. */
bool root_holds(long fd);
/* Notes that recovery names a path, for packing a bundle. */
void root_note(enum run_note how, long dirfd, const char *path);

/* ---- what our signal handlers call ---- */

/* Handles a caught system call. `back` is in the handler's frame. In calls.c. */
void calls_dispatch(siginfo_t *si, ucontext_t *uc, struct gate_return *back);
/* Handles a fault on a closed page. True: it is handled; false: the program itself gets it. In
 * step.c. */
bool step_fault(siginfo_t *si, ucontext_t *uc);
/* Handles the trap at the end of a step; true: the trap was only for us. */
bool step_trap(ucontext_t *uc);
/* Goes back to the state before the step. Called if the stepped instruction has faulted. */
void step_abort(ucontext_t *uc);

void signals_init(void);    /* signals.c */
void signals_prepare(void); /* called in the server */

#endif
