/* Row types of two tables of system calls: which memory a call accesses (calls/buffers.c), and
 * which arguments are paths (calls/paths.c). Calls that all architectures have are in those files,
 * others in runtime/arch/. */
#ifndef RUNTIME_CALL_TABLES_H
#define RUNTIME_CALL_TABLES_H

#include <stdint.h>
#include <sys/syscall.h>

/* ---- memory ---- */

enum buffer_kind {
	IN = 1, /* the kernel reads it */
	OUT,    /* the kernel writes it; the result says how many bytes */
	/* the kernel reads and writes it, or writes a part of it: all of it counts as read first */
	INOUT,
	STRING,
	IOV_IN,
	IOV_OUT, /* IOV_…: an array of buffers; `len` gives the number of elements */
	MSG_IN,
	MSG_OUT, /* MSG_…: a struct msghdr */
	MSGS_IN,
	MSGS_INOUT, /* MSGS_…: an array of struct mmsghdr; `len` gives the number of elements */
	FUTEXES,    /* an array of struct futex_waitv; `len` gives the number of elements */
	NOTHING,    /* an address whose bytes the call does not access */
};

/* A length: the number of an argument, such an argument times a constant, or a constant. */
#define ARG(n) (0x8000u | (n))
#define TIMES(n, bytes) (0x8000u | (bytes) << 4 | (n))

struct buffer_pointer {
	uint8_t arg, kind; /* enum buffer_kind */
	uint16_t len;
};

struct buffer_call {
	uint16_t number;
	struct buffer_pointer pointers[4];
};

/* ---- paths ---- */

enum path_follow {
	FOLLOW,
	NO_FOLLOW,
	AT_NO,    /* no if flags have AT_SYMLINK_NOFOLLOW */
	AT_YES,   /* yes if flags have AT_SYMLINK_FOLLOW */
	BY_OPEN,  /* no if flags have O_NOFOLLOW, or O_CREAT with O_EXCL */
	BY_HOW,   /* the same, with the flags in struct open_how */
	BY_CREAT, /* yes; creat() also empties the file */
};

/* What a call does to the file. A call that opens a file may also change it, which its flags
 * say. */
enum path_effect { PATH_LOOKS, PATH_CHANGES, PATH_MAKES, PATH_REMOVES, PATH_MOVES, PATH_LINKS };

struct path_call {
	uint16_t number;
	int8_t dirfd, path;   /* argument numbers; dirfd -1: the working folder */
	int8_t dirfd2, path2; /* the second path; 0, 0: there is none */
	uint8_t follow;       /* enum path_follow */
	int8_t flags;         /* number of the argument with flags */
	uint8_t effect;       /* enum path_effect */
};

#endif
