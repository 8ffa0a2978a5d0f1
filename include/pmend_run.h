/* The contract between crash/, which decides what recovery finds after a crash, and runtime/, which
 * is preloaded into recovery and shows that to it. A *region* is a file on tmpfs that the worker
 * (crash/) and all processes of a run (runtime/) map shared. Requests and replies go over a socket
 * between the worker and the fork server.
 *
 * A region contains struct run_region, and at the offsets named there: files, mappings, lines,
 * contents, sets, decisions. Offsets count from its beginning. The worker writes everything except
 * what is marked [runtime]. */
#ifndef PMEND_RUN_H
#define PMEND_RUN_H

#include <stddef.h>
#include <stdint.h>

#define RUN_MAGIC 0x314e55522d4d50u /* "PM-RUN1" */
/* path of the region, in the environment of every program that gets the runtime */
#define RUN_ENV_REGION "PMEND_RUN_REGION"
/* number of the control socket: the process that has it becomes the fork server, which removes it
 * from the environment before it forks; a process without it is part of a run. A "b" after the
 * number: also remove LD_BIND_NOW */
#define RUN_ENV_SERVER "PMEND_RUN_SERVER"

/* a folder with files of another machine under their original paths (a bundle); absolute paths lead
 * there if it has them; may be unset */
#define RUN_ENV_ROOT "PMEND_RUN_ROOT"
/* a file to which each path that a run uses is appended: enum run_note, the path, NUL; may be
 * unset */
#define RUN_ENV_NOTES "PMEND_RUN_NOTES"

/* How a run uses a path. */
enum run_note {
	RUN_NOTE_READ = 'r',
	RUN_NOTE_WRITE = 'w',
	RUN_NOTE_EXEC = 'x',
	RUN_NOTE_LIST = 'l',
	RUN_NOTE_SOCKET = 's'
};

/* ---- the region ---- */

/* Hashes a path. */
static inline uint64_t run_hash(const char *text, size_t len_bytes)
{
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

	for (size_t i = 0; i < len_bytes; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
	return h;
}

/* A PM file of the trace. When recovery names it, it gets `image`. The file is recognised by its
 * folder and name, or by its inode if the user's file exists. Whether the image exists, and its
 * size, are those of the file at the crash. A path that a PM file has only at another time (before
 * or after a rename) is listed, too, and its image is absent. Images of files in one folder are in
 * one folder. */
struct run_file {
	char image[256];                 /* path of the image on the worker's tmpfs */
	char name[256];                  /* last component of the file's path */
	uint64_t folder_dev, folder_ino; /* the folder of the file; 0 if it no longer exists */
	/* run_hash() of the folder's path, which identifies a folder that no longer exists */
	uint64_t folder_hash;
	uint64_t dev, ino; /* of the user's file; 0 if there is none now */
	/* of the image when the run begins, so that lines follow it when recovery renames it; 0 if
	 * absent */
	uint64_t image_dev, image_ino;
	/* [runtime; worker clears] recovery read the file or asked about it, not only opened it for
	 * writing */
	uint32_t is_looked_at;
	uint32_t reserved;
	/* [runtime; worker sets all bits] the run shortened the file to this many bytes, or punched
	 * a hole from here to its end */
	uint64_t cut_bytes;
};

/* Where the recorded program mapped a part of a file. Recovery's mapping goes to the same place if
 * that is free. */
struct run_mapping {
	uint64_t va, len_bytes, offset;
	uint32_t file; /* index in files */
	uint32_t reserved;
};

/* A line that has several possible contents. Lines are sorted by file and offset. A line is
 * undecided while the contents in `left` differ in bytes that the run has not written. The image
 * always holds the newest content left (the one with the largest index), so a decision always takes
 * the value that is there, and the runtime never changes memory. */
struct run_line {
	uint64_t offset; /* in the file; a multiple of line_bytes */
	uint32_t file;   /* index in files */
	uint32_t ncontents;
	/* offset of ncontents contents of line_bytes each; the last is the newest (nothing lost) */
	uint64_t contents;
	/* offset of a bit set in 64-bit words: contents that are still possible [runtime
	 * narrows] */
	uint64_t left;
	/* a bit per byte that the run has overwritten, so that memory has its value [runtime;
	 * worker clears] */
	uint8_t written[64];
	/* a bit per byte whose first read is to be listed as a decision with nvalues 1, unless the
	 * run wrote it before. A line may be listed only for this, with one content [runtime clears
	 * what it listed] */
	uint8_t watch[64];
	/* the same for lines of 64 bytes, listed with nvalues 0 even where reads are not judged:
	 * the contents do not tell these bytes apart [runtime clears what it listed] */
	uint8_t unasked[8];
	uint32_t line_bytes; /* 64, or 512 (sectors) */
	uint32_t reserved;
};

#define RUN_STACK 24u

/* A read of bytes in which the contents left differ: one value was taken. [runtime] */
struct run_decision {
	uint32_t line; /* index in lines */
	/* first byte of the line that was read; a large read becomes several decisions of up to 8
	 * bytes, where they are needed, so mask never spans more than 64 bytes */
	uint32_t at;
	/* bit i: the byte at + i was read, undecided, and not written by the run */
	uint64_t mask;
	uint32_t chosen; /* index of a content with the value that was taken */
	/* number of possible values; 1: a read of watched bytes; 0: of unasked bytes */
	uint32_t nvalues;
	uint32_t nframes;
	uint32_t thread; /* tid */
	uint32_t flags;  /* enum run_read_flags */
	/* size of the whole access; vector registers and copies have more than 8 */
	uint32_t access_bytes;
	uint64_t stack[RUN_STACK]; /* the reading instruction, then return addresses */
};

enum run_read_flags {
	RUN_READ_IN_ROI = 1,  /* inside PMEND_ROI_BEGIN/END of the recovery program */
	RUN_READ_SKIPPED = 2, /* inside PMEND_SKIP_CHECK_BEGIN/END of the reading thread */
	RUN_READ_CUT = 4,     /* after the run had cut the file (see cut_bytes) */
};

enum run_flags {
	/* protect undecided lines and decide when they are read; else memory is as in the images */
	RUN_LAZY = 1,
	/* also list reads of undecided lines whose contents agree on the bytes, with nvalues 1 */
	RUN_ALL_READS = 2,
	/* leave out the stacks of decisions, which cost more than everything else */
	RUN_NO_STACKS = 4,
	/* list first reads of watched bytes also where reads are not judged */
	RUN_WATCH_ALL = 8,
};

struct run_region {
	uint64_t magic;
	uint64_t len_bytes;
	uint32_t flags; /* enum run_flags, of the next run */
	uint32_t nfiles, nmappings, nlines;
	uint32_t decisions_room, reserved_head;
	uint64_t files, mappings, lines, decisions; /* offsets */

	/* [runtime; worker clears] decisions beyond decisions_room are counted, but not stored */
	uint32_t ndecisions;
	/* [runtime; worker clears] protects lines and decisions across processes: tid of the
	 * holder */
	uint32_t lock;
	/* [runtime] the program cannot be watched on this machine at all; why_unsound says why */
	uint32_t is_blind;
	/* [runtime] laziness could not be kept up: the result of this run does not count */
	uint32_t is_unsound;
	uint32_t is_done; /* [runtime] PMEND_DONE() was reached */
	/* [runtime] PMEND_ROI_BEGIN() was reached, in this run or an earlier one: reads elsewhere
	 * do not matter */
	uint32_t has_roi;
	int32_t roi_depth; /* [runtime; worker clears] */
	/* [runtime] a PM file was opened, created or renamed, in this run or an earlier one */
	uint32_t has_opened;
	uint32_t has_missed; /* [runtime] recovery asked for a PM file that did not exist */
	/* [runtime; worker clears] a PM file is mapped at another address than it was recorded,
	 * because that is taken */
	uint32_t is_moved;
	uint32_t has_moved; /* [runtime] the same, in this run or an earlier one */
	/* [runtime] a seccomp filter of the program was not installed, in this run or an earlier
	 * one */
	uint32_t has_sandbox;
	/* [runtime; worker clears] recovery changed a file beside a PM file: a copy of it, or a
	 * mark that it was removed, is in the folder of the images */
	uint32_t has_beside;
	uint32_t reserved;
	uint64_t nfaults;      /* [runtime] for statistics */
	char why_unsound[120]; /* [runtime] */

	/* The signal that killed the first process of the run that died of one. [runtime; worker
	 * clears] */
	uint32_t signal, signal_nframes;
	uint64_t signal_addr;             /* si_addr */
	uint64_t signal_stack[RUN_STACK]; /* the interrupted instruction, then return addresses */

	/* Limits of a run; 0: none. Standard input, output and error are the server's. */
	uint64_t max_memory_bytes; /* RLIMIT_DATA, added to what the server has */
	uint64_t max_file_bytes;   /* RLIMIT_FSIZE */
	/* descendants alive at a time, through RLIMIT_NPROC where that works */
	uint32_t max_processes;
};

/* ---- requests and replies: fixed-size messages on a SOCK_SEQPACKET socket ---- */

enum run_op {
	/* server → worker: ready; pid is the server's; status is 1 if it has several threads, so
	 * that forking it is not safe */
	RUN_HELLO = 1,
	RUN_START, /* worker → server: fork a run */
	/* worker → server: send signal `status` to the run's process group, unless the run has
	 * ended */
	RUN_SIGNAL,
	/* server → worker: the run ended with this wait status, and everything that it left running
	 * was killed */
	RUN_ENDED,
};

struct run_message {
	uint32_t op; /* enum run_op */
	int32_t pid;
	/* RUN_ENDED: as from waitpid(); -1: it could not be started, and nkilled is errno */
	int32_t status;
	uint32_t nkilled; /* RUN_ENDED: descendants that were killed */
	uint64_t time_us; /* RUN_ENDED: wall time of the run */
	uint64_t max_rss_bytes;
};

#endif
