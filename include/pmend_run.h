/* The contract between crash/, which decides what recovery finds after a crash, and runtime/, which
 * is preloaded into recovery and shows it that. A *region* is one file on tmpfs, mapped shared by
 * the worker (crash/) and by every process of a run (runtime/); requests and replies go over a
 * socket between the worker and the fork server.
 *
 * A region is laid out as: struct run_region, then at the offsets that it names: files, mappings,
 * lines, contents, sets, decisions. All offsets are from its beginning. The worker writes
 * everything but what is marked [runtime]. */
#ifndef PMEND_RUN_H
#define PMEND_RUN_H

#include <stddef.h>
#include <stdint.h>

#define RUN_MAGIC 0x314e55522d4d50u /* "PM-RUN1" */
/* path of the region; set in the environment of everything that is preloaded */
#define RUN_ENV_REGION "PMEND_RUN_REGION"
/* number of the control socket: become the fork server. The server removes it from the
 * environment before it forks; a preloaded process without it is part of a run. "b" after
 * the number: LD_BIND_NOW, too, is to be removed */
#define RUN_ENV_SERVER "PMEND_RUN_SERVER"

/* a folder with files of another machine, under the paths that they had there (a bundle): absolute
 * paths lead there if it has them; not set: none */
#define RUN_ENV_ROOT "PMEND_RUN_ROOT"
/* a file to which each path that a run names is appended, as enum run_note, the path, NUL; not set:
 * none */
#define RUN_ENV_NOTES "PMEND_RUN_NOTES"

/* How a path is used. */
enum run_note {
	RUN_NOTE_READ = 'r',
	RUN_NOTE_WRITE = 'w',
	RUN_NOTE_EXEC = 'x',
	RUN_NOTE_LIST = 'l',
	RUN_NOTE_SOCKET = 's'
};

/* ---- the region ---- */

/* Of a path. */
static inline uint64_t run_hash(const char *text, size_t len_bytes)
{
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */

	for (size_t i = 0; i < len_bytes; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3u;
	return h;
}

/* A PM file of the trace. Recovery that names it gets `image`. It is recognised by its folder and
 * name, or by its inode when the user's file exists. The image's own presence and size say whether
 * it exists at the crash. A path that a PM file has at another time only (it was, or will be,
 * renamed) is listed, too, and its image is absent. Images of files in one folder are in one
 * folder. */
struct run_file {
	char image[256];                 /* path of the image, on the worker's tmpfs */
	char name[256];                  /* last component of the file's own path */
	uint64_t folder_dev, folder_ino; /* of the folder that holds it; 0: that is gone */
	/* run_hash() of that folder's path: how it is known when it is gone */
	uint64_t folder_hash;
	uint64_t dev, ino; /* of the user's file; 0: there is none now */
	/* of the image at the beginning of the run, so that lines stay with it when recovery
	 * renames it; 0: absent */
	uint64_t image_dev, image_ino;
	/* [runtime; worker clears] somebody read it, or asked for it; not: opened it for writing
	 * only */
	uint32_t is_looked_at;
	uint32_t reserved;
	/* [runtime; worker sets all bits] the run made it shorter, to no more than this, or punched
	 * all behind it */
	uint64_t cut_bytes;
};

/* Where the recorded program had mapped a part of a file: recovery's mappings go there if the place
 * is free. */
struct run_mapping {
	uint64_t va, len_bytes, offset;
	uint32_t file; /* index in files */
	uint32_t reserved;
};

/* A line that has more than one possible content. Sorted by file and offset, disjoint. While `left`
 * holds more than one content that differ in bytes which the run has not written itself, the line
 * is undecided. The image holds the newest content left (the one with the largest index), also in
 * undecided lines: a decision always takes its value, so the runtime never changes memory. */
struct run_line {
	uint64_t offset; /* in the file; a multiple of line_bytes */
	uint32_t file;   /* index in files */
	uint32_t ncontents;
	/* offset of ncontents × line_bytes; the last one is the newest (nothing lost) */
	uint64_t contents;
	/* offset of a bit set of ncontents bits, in 64-bit words: contents still possible [runtime
	 * narrows] */
	uint64_t left;
	/* bit set: bytes that the run has overwritten: their value is what memory holds [runtime;
	 * worker clears] */
	uint8_t written[64];
	/* bit set: bytes whose first read is to be listed, as a decision with nvalues 1, unless the
	 * run wrote them before; a line may be listed for this alone, with one content [runtime
	 * clears what it listed] */
	uint8_t watch[64];
	/* the same of lines of 64 bytes, with nvalues 0, and also where reads are not to be judged:
	 * the contents that are listed do not tell these bytes apart [runtime clears what it
	 * listed] */
	uint8_t unasked[8];
};

#define RUN_STACK 24u

/* A read of bytes on which the contents left disagreed: one value was taken. [runtime] */
struct run_decision {
	uint32_t line; /* index in lines */
	/* first byte in the line that was read; 8-byte pieces of larger reads are decisions of
	 * their own if they need one: mask never spans more than 64 bytes */
	uint32_t at;
	/* bit i: byte at + i was read, was not written by the run, and was undecided */
	uint64_t mask;
	uint32_t chosen; /* index of a content that has the value taken */
	/* how many different values were possible; 1: a read of watched bytes; 0: of unasked
	 * ones */
	uint32_t nvalues;
	uint32_t nframes;
	uint32_t thread; /* tid */
	uint32_t flags;  /* enum run_read_flags */
	/* of the whole access: more than 8 for vector registers and copies */
	uint32_t access_bytes;
	uint64_t stack[RUN_STACK]; /* the reading instruction, then return addresses */
};

enum run_read_flags {
	RUN_READ_IN_ROI = 1,  /* inside PMEND_ROI_BEGIN/END of the recovery program */
	RUN_READ_SKIPPED = 2, /* inside PMEND_SKIP_CHECK_BEGIN/END of the reading thread */
	RUN_READ_CUT = 4,     /* after the run had cut the file (cut_bytes) */
};

enum run_flags {
	/* protect undecided lines and decide when they are read; else memory is as the images
	 * are */
	RUN_LAZY = 1,
	/* list decisions with nvalues 1, too: reads of undecided lines on whose bytes all contents
	 * agree */
	RUN_ALL_READS = 2,
	/* nobody asks for the stacks of decisions, which cost more than all the rest of them */
	RUN_NO_STACKS = 4,
	/* list first reads of watched bytes also where reads are not to be judged */
	RUN_WATCH_ALL = 8,
};

struct run_region {
	uint64_t magic;
	uint64_t len_bytes;
	uint32_t flags;      /* enum run_flags, of the next run */
	uint32_t line_bytes; /* 64, or 512 (sectors) */
	uint32_t nfiles, nmappings, nlines;
	uint32_t decisions_room;
	uint64_t files, mappings, lines, decisions; /* offsets */

	/* [runtime; worker clears]; past decisions_room they are counted but not stored */
	uint32_t ndecisions;
	/* [runtime] of lines and decisions, across processes: tid of the holder; worker clears */
	uint32_t lock;
	/* [runtime] the program cannot be watched on this machine, whatever it does; why_unsound
	 * says why */
	uint32_t is_blind;
	/* [runtime] laziness could not be kept up: this run's result does not count */
	uint32_t is_unsound;
	uint32_t is_done; /* [runtime] PMEND_DONE() was reached */
	/* [runtime] PMEND_ROI_BEGIN() was reached, in this run or an earlier one: reads elsewhere
	 * are not of interest */
	uint32_t has_roi;
	int32_t roi_depth; /* [runtime; worker clears] */
	/* [runtime] a PM file was opened, made or renamed, in this run or an earlier one */
	uint32_t has_opened;
	uint32_t has_missed; /* [runtime] a PM file was asked for, and was not there */
	/* [runtime; worker clears] a PM file is mapped elsewhere than it was recorded, because
	 * something else is there */
	uint32_t is_moved;
	uint32_t has_moved; /* [runtime] the same, in this run or an earlier one */
	/* [runtime] a seccomp filter of the program was not installed, in this run or an earlier
	 * one */
	uint32_t has_sandbox;
	/* [runtime; worker clears] recovery changed a file beside a PM file: a copy of it, or a
	 * mark that it is gone, is in the images' folder */
	uint32_t has_beside;
	uint32_t reserved;
	uint64_t nfaults;      /* [runtime] for statistics */
	char why_unsound[120]; /* [runtime] */

	/* How the first process of the run that died of a signal died. [runtime; worker clears] */
	uint32_t signal, signal_nframes;
	uint64_t signal_addr;             /* si_addr */
	uint64_t signal_stack[RUN_STACK]; /* the instruction, then return addresses */

	/* Limits of a run, 0: none. Standard input, output and error are the server's own. */
	uint64_t max_memory_bytes; /* RLIMIT_DATA, besides what the server has */
	uint64_t max_file_bytes;   /* RLIMIT_FSIZE */
	/* descendants alive at a time, by RLIMIT_NPROC where that works */
	uint32_t max_processes;
};

/* ---- requests and replies: fixed-size messages on a SOCK_SEQPACKET socket ---- */

enum run_op {
	/* server → worker: ready; pid is the server's, status 1 if it has more threads than one (no
	 * good to fork) */
	RUN_HELLO = 1,
	RUN_START, /* worker → server: fork a run */
	/* worker → server: send signal `status` to the run's process group; nothing if it ended */
	RUN_SIGNAL,
	/* server → worker: it ended, with this wait status, and everything that it left running was
	 * killed */
	RUN_ENDED,
};

struct run_message {
	uint32_t op; /* enum run_op */
	int32_t pid;
	/* RUN_ENDED: as of waitpid(); -1: it could not be started, with errno in nkilled */
	int32_t status;
	uint32_t nkilled; /* RUN_ENDED: descendants that were still there */
	uint64_t time_us; /* RUN_ENDED: wall time of the run */
	uint64_t max_rss_bytes;
};

#endif
