/* Oracles of your own for pmend: a shared object that defines `pmend_oracle`, loaded with `pmend
 * check --oracle FILE.so`. docs/howto-add-oracle.md builds one.
 *
 * Copyright 2026 the pmend authors. Redistribution and use in source and binary forms, with or
 * without modification, are permitted provided that this notice is kept. THIS FILE IS PROVIDED "AS
 * IS", WITHOUT WARRANTY OF ANY KIND. (BSD 1-clause; unlike the rest of pmend, so that you may
 * include it anywhere.)
 *
 * pmend reads the events of a recorded execution in order and passes each to the oracle just before
 * it takes effect. During that call the oracle may ask what is durable, and report findings. They
 * are treated like pmend's own: source lines, ids, regions of interest, suppressions, baselines,
 * all formats. Pointers that pmend passes are valid during the call, except sites, which last until
 * end(); strings and lists that the oracle passes are copied. Only one thread calls the oracle.
 * Functions may be NULL only where marked.
 */
#ifndef PMEND_ORACLE_H
#define PMEND_ORACLE_H

#include <stddef.h>
#include <stdint.h>

/* Grows when anything below changes its meaning or layout. pmend loads only this version. */
#define PMEND_ORACLE_ABI 1u

/* What happened. The numbers are those of trace files; docs/format.md says what each carries in
 * arg[]. */
enum pmend_event_kind {
	PMEND_EV_STORE = 1,
	PMEND_EV_STORE_NT = 2,  /* non-temporal */
	PMEND_EV_STORE_RMW = 3, /* locked: fence, store, fence */
	PMEND_EV_STORE_SYS = 4, /* by the kernel */
	PMEND_EV_LOAD = 5,      /* only if recorded */
	PMEND_EV_CLFLUSH = 6,
	PMEND_EV_CLFLUSHOPT = 7,
	PMEND_EV_CLWB = 8,
	PMEND_EV_SFENCE = 9,
	PMEND_EV_MFENCE = 10,
	PMEND_EV_LFENCE = 11,
	PMEND_EV_RMW_FENCE = 12, /* locked, but stored nothing to PM */
	PMEND_EV_MSYNC = 13,     /* arg: bytes, flags */
	PMEND_EV_FSYNC = 14,     /* arg: file, 0: all */
	PMEND_EV_FDATASYNC = 15, /* arg: file */
	PMEND_EV_FILE = 16,      /* a PM file; arg: file, size…; bytes: its path */
	PMEND_EV_CONTENT = 17,
	PMEND_EV_SIZE = 18,
	PMEND_EV_FALLOCATE = 19,
	PMEND_EV_RENAME = 20,
	PMEND_EV_UNLINK = 21,
	PMEND_EV_MAP = 22,
	PMEND_EV_UNMAP = 23,
	PMEND_EV_PROTECT = 24,
	PMEND_EV_NOT_PM = 25,
	PMEND_EV_IS_PM = 26,
	PMEND_EV_SET_CLEAN = 27,
	PMEND_EV_TX_BEGIN = 28, /* PMDK's transactions */
	PMEND_EV_TX_END = 29,
	PMEND_EV_TX_ADD = 30, /* logged or allocated */
	PMEND_EV_TX_REMOVE = 31,
	PMEND_EV_TX_JOIN = 32,
	PMEND_EV_TX_LEAVE = 33,
	PMEND_EV_TX_IGNORE = 34,
	PMEND_EV_NOTE_FLUSH = 35,
	PMEND_EV_NOTE_FENCE = 36,
	PMEND_EV_LOG = 37,
	PMEND_EV_ROI_BEGIN = 38, /* annotations of pmend.h */
	PMEND_EV_ROI_END = 39,
	PMEND_EV_FAILURE_POINT = 40,
	PMEND_EV_SKIP_FAILURE_BEGIN = 41,
	PMEND_EV_SKIP_FAILURE_END = 42,
	PMEND_EV_SKIP_CHECK_BEGIN = 43,
	PMEND_EV_SKIP_CHECK_END = 44,
	PMEND_EV_COMMIT_VAR = 45,
	PMEND_EV_COMMIT_RANGE = 46,
	PMEND_EV_OP_BEGIN = 47, /* bytes: the name */
	PMEND_EV_OP_END = 48,
	PMEND_EV_ASSERT_DURABLE = 49,
	PMEND_EV_ASSERT_ORDERED = 50,
	PMEND_EV_IGNORE = 51,
	PMEND_EV_DONE = 52,
	PMEND_EV_META = 53,
	PMEND_EV_PROCESS = 54,
	PMEND_EV_FORK = 55,
	PMEND_EV_EXEC = 56,
	PMEND_EV_EXIT = 57,
	PMEND_EV_SIGNAL = 58,
	PMEND_EV_THREAD_BEGIN = 59,
	PMEND_EV_THREAD_END = 60,
	PMEND_EV_OUTPUT = 61,
	PMEND_EV_INCOMPLETE = 62,
	PMEND_EV_FLUSH_VOLATILE = 63, /* a flush where there is no PM */
	/* the program asks PMDK to log; arg: bytes, pool's uuid, offset; or bytes, 0, PM address */
	PMEND_EV_TX_ADD_CALL = 64,
	/* an allocator hands out memory whose content is not defined; arg: bytes */
	PMEND_EV_UNDEFINED = 65,
	PMEND_EV_STORE_PAIR = 66,   /* of arm64, as all that follow: stp, stnp */
	PMEND_EV_STORE_VECTOR = 67, /* arg: bytes of an element */
	/* stlr, stxr, atomics; arg: 1 acquire, 2 release, 4 a single instruction */
	PMEND_EV_STORE_ORDERED = 68,
	PMEND_EV_ORDER = 69, /* the same without a store to PM */
	PMEND_EV_DC_CVAC = 70,
	PMEND_EV_DC_CIVAC = 71,
	PMEND_EV_DC_CVAP = 72,
	PMEND_EV_DC_CVADP = 73,
	PMEND_EV_DMB = 74, /* arg: the option's number */
	PMEND_EV_DSB = 75,
	PMEND_EV_INPUT = 76,
	/* write(2) to a PM file, which the stores before it tell; arg: bytes */
	PMEND_EV_WRITE = 77,
	/* --old-bytes: these bytes were there before the program got the memory; arg: bytes */
	PMEND_EV_OLD = 78,
	/* --files: a name in a folder leads to a file now; a name is gone; a name was changed;
	 * sync_file_range(). data: the name, of a move the old one, a slash and the new one */
	PMEND_EV_NAME = 79,
	PMEND_EV_UNNAME = 80,
	PMEND_EV_MOVE = 81,
	PMEND_EV_SYNC_RANGE = 82,
	/* --threads; arg: object, 1 it is in PM + 2 a reader's lock + 4 a condition variable,
	 * bytes */
	PMEND_EV_LOCK = 83,
	PMEND_EV_UNLOCK = 84,
	PMEND_EV_ACQUIRE = 85, /* object 0: all threads that have ended */
	PMEND_EV_RELEASE = 86,
	PMEND_EV_SCHEDULE = 87
};

/* An instruction and how it was called. Opaque; equal pointers are the same place. NULL:
 * unknown. */
struct pmend_site;

/* Bytes of persistent memory: addresses are a PM file's number, from 1, and an offset in it,
 * wherever it was mapped. */
struct pmend_range {
	uint32_t file; /* 0: no address */
	uint64_t offset, size_bytes;
};

struct pmend_event {
	uint64_t seq;          /* from 1, in the order of execution */
	uint32_t kind;         /* enum pmend_event_kind */
	const char *kind_name; /* "store", "clwb"…, as pmend show prints it */
	uint32_t process, thread;
	/* what was stored, loaded or flushed; the range of a TX_ADD, an annotation and the like */
	struct pmend_range at;
	const uint8_t *bytes; /* of a store, or the event's text (not terminated); NULL: none */
	uint32_t nbytes;
	uint64_t arg[5];
	const struct pmend_site *site;
};

/* A store that a crash at this moment could lose. */
struct pmend_store {
	uint64_t seq;
	uint32_t process, thread;
	uint32_t kind;
	struct pmend_range at; /* what of it lies in one line */
	int is_pending;        /* written back, but no fence of that thread has followed */
	int is_overwritten;    /* by later stores, all of it */
	const struct pmend_site *site;
};

enum pmend_severity { PMEND_CORRECTNESS = 1, PMEND_PERFORMANCE = 2 };

#define PMEND_MAX_PLACES 3

struct pmend_place {
	const char *role; /* what it did: "store", "flush", "fence"… */
	const struct pmend_site *site;
};

/* Findings with the same kind, message and places are one, however often they are reported. */
struct pmend_finding {
	const char *kind;    /* lower-case letters, digits and dashes; shown as ORACLE/KIND */
	uint32_t severity;   /* enum pmend_severity */
	const char *message; /* one sentence: what is wrong */
	const char *advice;  /* one sentence: what to do; may be NULL */
	uint64_t seq;        /* of the event that counts for regions of interest and trusted code */
	const struct pmend_place *places; /* the first is where the bug is */
	size_t nplaces;                   /* at most PMEND_MAX_PLACES */
};

/* What pmend does for the oracle. In a range that it asks about, file 0 stands for all persistent
 * memory. */
struct pmend_check; /* opaque */
struct pmend_host {
	void (*report)(struct pmend_check *c, const struct pmend_finding *f);
	/* No crash from now on could show anything but the newest value of these bytes. */
	int (*is_durable)(struct pmend_check *c, const struct pmend_range *r);
	/* Calls f for each store to r that could still be lost, by address, then by age. */
	void (*each_unpersisted)(struct pmend_check *c, const struct pmend_range *r,
				 void (*f)(const struct pmend_store *s, void *arg), void *arg);
	/* The program declared these bytes intentionally volatile, or clean. */
	int (*is_ignored)(struct pmend_check *c, const struct pmend_range *r);
	/* "x86-adr", "x86-intel", "x86-amd", "eadr", "msync", "arm64" or "arm64-poc" */
	const char *(*platform)(struct pmend_check *c);
};

/* The oracle. */
struct pmend_oracle {
	uint32_t abi;     /* PMEND_ORACLE_ABI; stays the first member */
	const char *name; /* lower-case letters, digits and dashes */
	/* the result is passed to the others */
	void *(*begin)(const struct pmend_host *host, struct pmend_check *c);
	void (*event)(void *state, const struct pmend_event *ev);
	void (*finish)(void *state); /* after the last event; may be NULL */
	void (*end)(void *state);    /* frees; may be NULL */
};

#ifdef __cplusplus
extern "C" {
#endif
extern const struct pmend_oracle pmend_oracle;
#ifdef __cplusplus
}
#endif

#endif
