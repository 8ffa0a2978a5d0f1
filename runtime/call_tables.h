/* Rows of the tables about system calls: which memory they access (calls/buffers.c), and which of
 * their arguments are paths (calls/paths.c). Calls that all architectures have are in those files,
 * the others in runtime/arch/. */
#ifndef RUNTIME_CALL_TABLES_H
#define RUNTIME_CALL_TABLES_H

#include <stdint.h>
#include <sys/syscall.h>

/* ---- memory ---- */

enum buffer_kind {
	IN = 1, /* read by the kernel */
	OUT,    /* written, as many bytes as the result says */
	INOUT,  /* read and written, or written in part: all of it counts as read first */
	STRING,
	IOV_IN,
	IOV_OUT, /* array of buffers; the number of elements is `len` */
	MSG_IN,
	MSG_OUT, /* struct msghdr */
	MSGS_IN,
	MSGS_INOUT, /* array of struct mmsghdr; the number of elements is `len` */
	FUTEXES,    /* array of struct futex_waitv, likewise */
	NOTHING,    /* an address whose bytes are not accessed */
};

/* A length: argument number, or a constant. */
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
	AT_NO,    /* unless flags have AT_SYMLINK_NOFOLLOW */
	AT_YES,   /* if flags have AT_SYMLINK_FOLLOW */
	BY_OPEN,  /* unless O_NOFOLLOW, or O_CREAT with O_EXCL */
	BY_HOW,   /* the same in struct open_how */
	BY_CREAT, /* follows, opens, and empties */
};

/* What a call does to the file of its path. Opening may change it, too: the flags say so. */
enum path_effect { PATH_LOOKS, PATH_CHANGES, PATH_MAKES, PATH_REMOVES, PATH_MOVES, PATH_LINKS };

struct path_call {
	uint16_t number;
	int8_t dirfd, path;   /* argument numbers; dirfd -1: the working folder */
	int8_t dirfd2, path2; /* 0, 0: there is no second */
	uint8_t follow;       /* enum path_follow */
	int8_t flags;         /* argument number */
	uint8_t effect;       /* enum path_effect */
};

#endif
