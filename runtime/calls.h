/* System calls that the program makes, and that are done for it. */
#ifndef RUNTIME_CALLS_H
#define RUNTIME_CALLS_H

#include "pm.h"

#define NO_ROOM \
	"there is no space left for what recovery writes to PM files (set TMPDIR to a folder with more)"
#define CALL_PASS (-100000l) /* let the program do it itself */

/* ---- which memory a call accesses: calls/buffers.c ---- */

void buffers_init(void);
bool buffers_touch(long number, const long a[6]);
void buffers_before(long number, const long a[6]);
void buffers_after(long number, const long a[6], long result);
/* Total length of an iovec, read safely. */
uint64_t buffers_iov_bytes(uint64_t iov, uint64_t n);

/* Does a call for the program, whose buffers may lie in PM: calls/perform.c */
long calls_perform(long number, long a[6]);
long calls_wait(long number, const long a[6]); /* the same if they do not */

/* ---- calls/: each gives the result, or CALL_PASS: it is none of theirs ---- */

long paths_call(long number, long a[6]); /* with a PM file's path */
long dirents_call(long number, long a[6]);
long fileio_call(long number, long a[6]); /* with an image's descriptor */
long map_call(long number, long a[6]);    /* mmap and the like */
long map_advise(const long a[6]);         /* madvise */
long clone_call(long number, long a[6], ucontext_t *uc);
long exec_call(long number, long a[6]);
void exec_init(void);
long root_call(long number, long a[6]);          /* with the path of a folder, in a bundle */
long sandbox_call(long number, const long a[6]); /* seccomp */
long signal_call(long number, long a[6], ucontext_t *uc);

/* ---- paths: calls/names.c ---- */

/* Splits off the last component: "/" and "." stand for what is not there. NULL: it has none. */
const char *name_split(char *path, const char **folder);
/* Replaces the path of a symbolic link, in a buffer of ROOT_PATH_ROOM, by what it leads to; false:
 * it is none. */
bool name_follow_link(long dirfd, char *path);
bool name_follow(char *path, const char *target); /* the same of a link to that target */

/* ---- the user's files beside PM files: calls/beside.c ---- */

struct path_call;
long beside_call(const struct path_call *c, long number, long a[6], uint64_t open_flags,
		 bool follows_links);
long beside_call_two(const struct path_call *c, long number, long a[6]); /* rename and link */
/* The same as name_follow_link(), of a link that recovery made. */
bool beside_follow_link(long dirfd, char *path);
/* Was the user's file removed, in the folder of that image? */
bool beside_is_gone(const struct run_file *f, const char *name);
/* Names of files that recovery made in the folder of that image, one after the other, from *at on,
 * which begins as 0; false: there are no more. */
bool beside_next(const struct run_file *f, long *at, char name[256]);

/* ---- the files of another machine: calls/root.c ---- */

#define ROOT_PATH_ROOM 4096u

#define CHANGED_ROOT \
	"recovery changes its root folder (chroot), and then names a file that pmend keeps outside of it"
bool root_is_changed(void); /* by chroot(): our own paths mean nothing any more */

void root_init(void);
bool root_is_there(void);
/* Turns an absolute path, in a buffer of ROOT_PATH_ROOM, into that in the root; false: it is not
 * one, or there is no root. */
bool root_enter(char *path);
/* Is such a path to be used? */
bool root_takes(char *path);
/* Is this a descriptor of a file in it? */
bool root_holds(long fd);
/* Recovery names a path. */
void root_note(enum run_note how, long dirfd, const char *path);

/* ---- what arrives in our handlers ---- */

/* A system call; the handler's frame holds `back`. calls.c */
void calls_dispatch(siginfo_t *si, ucontext_t *uc, struct gate_return *back);
/* A fault on a protected page: true: dealt with. step.c */
bool step_fault(siginfo_t *si, ucontext_t *uc);
/* A trap after a step: true: ours, and only ours. */
bool step_trap(ucontext_t *uc);
/* The stepped instruction has faulted itself: back to before it. */
void step_abort(ucontext_t *uc);

void signals_init(void);    /* signals.c */
void signals_prepare(void); /* in the server */

#endif
