/* The trace (.pmt): the contract between the recorder and everything that reads traces.
 * docs/format.md explains every byte. Little-endian: a header page, then chunks; no record spans
 * chunks. Freestanding, because the recorder includes it. */
#ifndef PMTRACE_H
#define PMTRACE_H

#include <stdint.h>

#define PMT_MAGIC "PMTRACE\n"
#define PMT_VERSION 3u
#define PMT_HEADER_BYTES 16384u
#define PMT_CHUNK_MAGIC 0x4b434d50u /* "PMCK" */
#define PMT_CHUNK_BYTES (256u << 10)
#define PMT_FIRST_CHUNK_BYTES (32u << 10) /* of processes other than the first */
#define PMT_CHUNK_MAX_BYTES (16u << 20)   /* readers accept no larger chunk */
/* a record is at most two 4 KiB strings and some numbers */
#define PMT_RECORD_MAX_BYTES (12u << 10)
#define PMT_PAGE_BYTES 4096u

/* The beginning of the file. The recorder keeps it mapped; `end`, `seq` and `nstreams` are counters
 * shared by all recorded processes. */
struct pmt_header {
	char magic[8];
	uint32_t version;
	uint32_t header_bytes;
	uint64_t end;      /* file offset where the next chunk goes */
	uint64_t seq;      /* events so far */
	uint32_t nstreams; /* processes so far */
	uint32_t nfiles;   /* PM files so far */
	/* errno of a write that failed, which makes the trace incomplete; else 0 */
	uint32_t error;
	/* 1 when the first process has written its last chunk and ended normally */
	uint32_t finished;
	/* with --check-stacks: call stacks that Valgrind unwinds differently */
	uint32_t bad_stacks;
	/* process number of the process that executes a locked instruction on PM; else 0 */
	uint32_t lock;
};
_Static_assert(sizeof(struct pmt_header) == 56, "on-disk layout");

/* The rest of the header page: the inode of each PM file, by number from 1, so that all recorded
 * processes give a file the same number. */
struct pmt_file_slot {
	uint64_t dev, ino;
	uint64_t size_bytes; /* as of the last event */
};

/* The process that started the recording fills in the end of the header page; 0: it did not. Before
 * the ending it notes whether sums of the files' final content follow the last chunk, at `end`, and
 * whether they were compared with the trace. */
enum pmt_sums_state { PMT_SUMS_NONE = 0, PMT_SUMS_TO_COMPARE = 1, PMT_SUMS_EQUAL = 2 };
struct pmt_sums_note {
	uint32_t state; /* enum pmt_sums_state */
	uint32_t unused;
};

/* How the first process ended. */
enum pmt_end {
	PMT_END_UNKNOWN = 0,
	PMT_END_EXIT = 1,
	PMT_END_SIGNAL = 2,
	PMT_END_TIME = 3, /* ended because its time was over */
};
struct pmt_ending {
	uint32_t how;  /* enum pmt_end */
	uint32_t code; /* exit status, signal number, or time limit in seconds */
};
#define PMT_ENDING_OFFSET (PMT_HEADER_BYTES - sizeof(struct pmt_ending))
#define PMT_SUMS_NOTE_OFFSET (PMT_ENDING_OFFSET - sizeof(struct pmt_sums_note))
#define PMT_MAX_FILES \
	((PMT_SUMS_NOTE_OFFSET - sizeof(struct pmt_header)) / sizeof(struct pmt_file_slot))
_Static_assert(sizeof(struct pmt_header) + PMT_MAX_FILES * sizeof(struct pmt_file_slot) <=
		       PMT_SUMS_NOTE_OFFSET,
	       "on-disk layout");

/* The sums: this struct, then for each file a struct pmt_sums_file and its struct pmt_sums_page.
 * They are not events. What is later appended to the trace overwrites them. */
#define PMT_SUMS_MAGIC "PMSUMS\n"
struct pmt_sums {
	char magic[8];
	uint64_t len_bytes; /* of what follows */
	uint64_t hash;      /* pmt_hash_lanes() of what follows */
};
struct pmt_sums_file {
	uint64_t file; /* number of the file */
	uint64_t size_bytes;
	uint64_t npages; /* pages that are not all zeros */
};
struct pmt_sums_page {
	uint64_t number; /* offset in the file / PMT_PAGE_BYTES */
	uint64_t sum;    /* pmt_page_sum() */
};
_Static_assert(sizeof(struct pmt_sums) == 24 && sizeof(struct pmt_sums_file) == 24 &&
		       sizeof(struct pmt_sums_page) == 16,
	       "on-disk layout");

enum pmt_chunk_state { PMT_CHUNK_OPEN = 1, PMT_CHUNK_CLOSED = 2 };

/* A chunk belongs to one process (stream). While it is open, `used` grows with each event and
 * `hash` is not valid. A killed recorder leaves an open chunk with `used` valid bytes. */
struct pmt_chunk {
	uint32_t magic;
	uint32_t stream;
	uint32_t capacity; /* bytes from this header to the next one */
	uint32_t used;     /* bytes of payload */
	uint64_t first_seq;
	uint64_t hash;   /* pmt_chunk_hash() */
	uint32_t state;  /* enum pmt_chunk_state */
	uint32_t number; /* 0, 1, 2… within the stream */
	uint64_t nevents;
};
_Static_assert(sizeof(struct pmt_chunk) == 48, "on-disk layout");

/* A PM address names a byte of a file, not of an address space, so two mappings of one file are the
 * same memory. */
#define PMT_OFFSET_BITS 44
#define PMT_ADDR(file, offset) (((uint64_t)(file) << PMT_OFFSET_BITS) | (offset))
#define PMT_FILE(addr) ((uint32_t)((addr) >> PMT_OFFSET_BITS))
#define PMT_OFFSET(addr) ((addr) & (((uint64_t)1 << PMT_OFFSET_BITS) - 1))

/* What events of a kind have besides thread and site. */
enum pmt_carries {
	PMT_HAS_ADDR = 1,  /* a PM address */
	PMT_HAS_VALUE = 2, /* the stored bytes, as many as the site's size */
	PMT_HAS_BLOB = 4,  /* a length and bytes */
};

/* number, NAME, "name", carries, number of arguments (described in the comment) */
/* clang-format off */
#define PMT_KINDS(X) \
	X(1, STORE, "store", PMT_HAS_ADDR | PMT_HAS_VALUE, 0) \
	X(2, STORE_NT, "store-nt", PMT_HAS_ADDR | PMT_HAS_VALUE, 0) /* non-temporal */ \
	/* locked: fence, store untorn, fence */ \
	X(3, STORE_RMW, "store-rmw", PMT_HAS_ADDR | PMT_HAS_VALUE, 0) \
	/* by the kernel: read(2), pwrite(2)… */ \
	X(4, STORE_SYS, "store-sys", PMT_HAS_ADDR | PMT_HAS_VALUE, 0) \
	X(5, LOAD, "load", PMT_HAS_ADDR, 0) \
	X(6, CLFLUSH, "clflush", PMT_HAS_ADDR, 0) \
	X(7, CLFLUSHOPT, "clflushopt", PMT_HAS_ADDR, 0) \
	X(8, CLWB, "clwb", PMT_HAS_ADDR, 0) \
	X(9, SFENCE, "sfence", 0, 0) \
	X(10, MFENCE, "mfence", 0, 0) \
	X(11, LFENCE, "lfence", 0, 0) /* no persist barrier */ \
	X(12, RMW_FENCE, "rmw-fence", 0, 0) /* locked, but stored nothing to PM */ \
	X(13, MSYNC, "msync", PMT_HAS_ADDR, 2) /* bytes, MS_ flags */ \
	X(14, FSYNC, "fsync", 0, 1) /* file; 0: sync(2) */ \
	X(15, FDATASYNC, "fdatasync", 0, 1) /* file */ \
	X(16, FILE, "file", PMT_HAS_BLOB, 5) /* file, size, pmt_file_flags, device, inode; path */ \
	/* initial bytes; unmentioned ones are 0 */ \
	X(17, CONTENT, "content", PMT_HAS_ADDR | PMT_HAS_BLOB, 0) \
	X(18, SIZE, "size", 0, 2) /* file, new size */ \
	X(19, FALLOCATE, "fallocate", 0, 4) /* file, mode, offset, bytes */ \
	X(20, RENAME, "rename", PMT_HAS_BLOB, 1) /* file; new path */ \
	X(21, UNLINK, "unlink", 0, 1) /* file */ \
	X(22, MAP, "map", PMT_HAS_ADDR, 3) /* virtual address, bytes, PROT_ flags */ \
	X(23, UNMAP, "unmap", PMT_HAS_ADDR, 2) /* virtual address, bytes */ \
	X(24, PROTECT, "protect", PMT_HAS_ADDR, 3) /* virtual address, bytes, PROT_ flags */ \
	X(25, NOT_PM, "not-pm", PMT_HAS_ADDR, 1) /* bytes; pmemcheck's REMOVE_PMEM_MAPPING */ \
	X(26, IS_PM, "is-pm", PMT_HAS_ADDR, 1) /* bytes; pmemcheck's REGISTER_PMEM_MAPPING */ \
	X(27, SET_CLEAN, "set-clean", PMT_HAS_ADDR, 1) /* bytes */ \
	X(28, TX_BEGIN, "tx-begin", 0, 1) /* id, 0: the thread's own */ \
	X(29, TX_END, "tx-end", 0, 1) /* id */ \
	X(30, TX_ADD, "tx-add", PMT_HAS_ADDR, 2) /* bytes, id */ \
	X(31, TX_REMOVE, "tx-remove", PMT_HAS_ADDR, 2) /* bytes, id */ \
	X(32, TX_JOIN, "tx-join", 0, 1) /* id: this thread takes part in it */ \
	X(33, TX_LEAVE, "tx-leave", 0, 1) /* id */ \
	X(34, TX_IGNORE, "tx-ignore", PMT_HAS_ADDR, 1) /* bytes that need no logging */ \
	/* bytes; pmemcheck's DO_FLUSH, no instruction */ \
	X(35, NOTE_FLUSH, "note-flush", PMT_HAS_ADDR, 1) \
	X(36, NOTE_FENCE, "note-fence", 0, 0) /* pmemcheck's DO_FENCE, no instruction */ \
	X(37, LOG, "log", PMT_HAS_BLOB, 0) /* pmemcheck's EMIT_LOG marker */ \
	X(38, ROI_BEGIN, "roi-begin", 0, 0) \
	X(39, ROI_END, "roi-end", 0, 0) \
	X(40, FAILURE_POINT, "failure-point", 0, 0) \
	X(41, SKIP_FAILURE_BEGIN, "skip-failure-begin", 0, 0) \
	X(42, SKIP_FAILURE_END, "skip-failure-end", 0, 0) \
	X(43, SKIP_CHECK_BEGIN, "skip-check-begin", 0, 0) \
	X(44, SKIP_CHECK_END, "skip-check-end", 0, 0) \
	X(45, COMMIT_VAR, "commit-var", PMT_HAS_ADDR, 1) /* bytes */ \
	/* of the variable; PM address and bytes it covers */ \
	X(46, COMMIT_RANGE, "commit-range", PMT_HAS_ADDR, 2) \
	X(47, OP_BEGIN, "op-begin", PMT_HAS_BLOB, 0) /* name */ \
	X(48, OP_END, "op-end", PMT_HAS_BLOB, 0) /* name */ \
	X(49, ASSERT_DURABLE, "assert-durable", PMT_HAS_ADDR, 1) /* bytes */ \
	/* of a; bytes of a, PM address and bytes of b */ \
	X(50, ASSERT_ORDERED, "assert-ordered", PMT_HAS_ADDR, 3) \
	X(51, IGNORE, "ignore", PMT_HAS_ADDR, 1) /* bytes that are volatile by intent */ \
	X(52, DONE, "done", 0, 0) \
	X(53, META, "meta", PMT_HAS_BLOB, 0) /* key=value about the recording */ \
	X(54, PROCESS, "process", 0, 2) /* first event of a stream: pid, parent pid */ \
	/* the child's stream, which starts with a copy of this one's tables */ \
	X(55, FORK, "fork", 0, 1) \
	X(56, EXEC, "exec", PMT_HAS_BLOB, 0) /* path */ \
	X(57, EXIT, "exit", 0, 1) /* last event of an orderly process: its exit status */ \
	X(58, SIGNAL, "signal", 0, 1) /* number, delivered to a handler */ \
	X(59, THREAD_BEGIN, "thread-begin", 0, 1) /* thread number of the new thread */ \
	X(60, THREAD_END, "thread-end", 0, 0) \
	/* file descriptor, bytes; the first PMT_OUTPUT_BYTES of them */ \
	X(61, OUTPUT, "output", PMT_HAS_BLOB, 2) \
	X(62, INCOMPLETE, "incomplete", PMT_HAS_BLOB, 0) /* PM may have changed unseen; why */ \
	/* virtual address: a flush instruction, but no PM there */ \
	X(63, FLUSH_VOLATILE, "flush-volatile", 0, 1) \
	/* bytes; pool's uuid, and offset in it; or 0, and PM address */ \
	X(64, TX_ADD_CALL, "tx-add-call", 0, 3) \
	/* bytes; memcheck's MAKE_MEM_UNDEFINED: an allocator hands them out */ \
	X(65, UNDEFINED, "undefined", PMT_HAS_ADDR, 1) \
	/* arm64: two general registers (stp, stnp) */ \
	X(66, STORE_PAIR, "store-pair", PMT_HAS_ADDR | PMT_HAS_VALUE, 0) \
	/* bytes of an element: stored in no order. arm64; amd64: rep movs, rep stos, 16: movaps */ \
	X(67, STORE_VECTOR, "store-vector", PMT_HAS_ADDR | PMT_HAS_VALUE, 1) \
	/* arm64: pmt_order; stlr, stxr, LSE atomics */ \
	X(68, STORE_ORDERED, "store-ordered", PMT_HAS_ADDR | PMT_HAS_VALUE, 1) \
	/* arm64: pmt_order of one that stored nothing to PM: ldar, stlr elsewhere… */ \
	X(69, ORDER, "order", 0, 1) \
	X(70, DC_CVAC, "dc-cvac", PMT_HAS_ADDR, 0) /* clean to the point of coherency */ \
	X(71, DC_CIVAC, "dc-civac", PMT_HAS_ADDR, 0) /* the same, and invalidate */ \
	X(72, DC_CVAP, "dc-cvap", PMT_HAS_ADDR, 0) /* clean to the point of persistence */ \
	X(73, DC_CVADP, "dc-cvadp", PMT_HAS_ADDR, 0) /* clean to the point of deep persistence */ \
	X(74, DMB, "dmb", 0, 1) /* the instruction's option, bits 8-11 (CRm) */ \
	X(75, DSB, "dsb", 0, 1) /* likewise */ \
	/* file descriptor, bytes: standard input or a socket was read; each line is an event */ \
	X(76, INPUT, "input", 0, 2) \
	/* bytes: write(2) or the like to a PM file; the thread's last store-sys tell what */ \
	X(77, WRITE, "write", PMT_HAS_ADDR, 1) \
	/* bytes that hold pmt_old_bytes(), durably, because of --old-bytes */ \
	X(78, OLD, "old-bytes", PMT_HAS_ADDR, 1) \
	/* file, folder, pmt_named; the name in that folder. With --files, like all below */ \
	X(79, NAME, "name", PMT_HAS_BLOB, 3) \
	X(80, UNNAME, "unname", PMT_HAS_BLOB, 2) /* file, folder; the name that is gone */ \
	/* file, old folder, new folder, flags of renameat2, file that had the new name;
	 * the old name, a slash, the new name */ \
	X(81, MOVE, "move", PMT_HAS_BLOB, 5) \
	X(82, SYNC_RANGE, "sync-range", PMT_HAS_ADDR, 2) /* bytes, SYNC_FILE_RANGE_ flags */ \
	/* object, pmt_sync, bytes of the object. With --threads, like all below. The thread holds it */ \
	X(83, LOCK, "lock", 0, 3) \
	X(84, UNLOCK, "unlock", 0, 3) \
	/* what follows comes after the releases of this object so far; object 0: after all threads \
	 * that have ended */ \
	X(85, ACQUIRE, "acquire", 0, 3) \
	X(86, RELEASE, "release", 0, 3) \
	/* number of the switch, pmt_schedule: this thread runs now; why it departs from the seed. With
	 * --schedules */ \
	X(87, SCHEDULE, "schedule", PMT_HAS_BLOB, 2)
/* clang-format on */

enum pmt_kind {
#define X(number, NAME, name, carries, nargs) PMT_##NAME = number,
	PMT_KINDS(X)
#undef X
		PMT_NKINDS
};

#define PMT_MAX_ARGS 5
#define PMT_OUTPUT_BYTES 256u
#define PMT_STORE_MAX_BYTES 64u
#define PMT_LINE_BYTES 64u

/* Gives the word that --old-bytes puts at an offset of a PM file. No byte is zero or looks like
 * text, no word is a pointer or a small number, and words near each other differ, so no program
 * takes them for initialised data. */
static inline uint64_t pmt_old_word(uint64_t offset)
{
	uint64_t word = (offset / 8 + 1) * 0x9e3779b97f4a7c15u;

	word = (word ^ word >> 32) * 0xd6e8feb86659fd93u;
	return (word ^ word >> 32) | 0x8080808080808080u;
}

static inline void pmt_old_bytes(uint8_t *bytes, uint64_t offset, uint64_t len_bytes)
{
	uint64_t word = pmt_old_word(offset);

	for (uint64_t i = 0; i < len_bytes; i++, offset++) {
		if (offset % 8 == 0)
			word = pmt_old_word(offset);
		bytes[i] = (uint8_t)(word >> offset % 8 * 8);
	}
}

/* The order that an arm64 access demands. */
enum pmt_order {
	PMT_ORDER_ACQUIRE = 1, /* ldar, ldaxr, an LSE atomic with acquire; not ldapr */
	PMT_ORDER_RELEASE = 2, /* stlr, stlxr, an LSE atomic with release that stored */
	/* a single instruction (LSE) that stored, not an exclusive pair */
	PMT_ORDER_ATOMIC = 4,
};

/* About an object that threads synchronise with: a lock, a semaphore, a barrier… */
enum pmt_sync {
	PMT_SYNC_PM = 1,     /* it is in PM, and named by its PM address; else by its virtual one */
	PMT_SYNC_SHARED = 2, /* others may hold the lock at the same time: a reader's */
	PMT_SYNC_WAITED = 4, /* a condition variable: the thread waited for work */
};

/* Why the order of threads goes on with this thread: what the thread before it does. */
enum pmt_schedule {
	PMT_SCHEDULE_WAITS = 0,  /* it waits in a system call, or has ended */
	PMT_SCHEDULE_YIELDS = 1, /* its time is used up, or it called sched_yield */
	PMT_SCHEDULE_CHANGE =
		2,             /* it has come to a change point, and has the lowest priority now */
	PMT_SCHEDULE_HELD = 3, /* it is held between a store and its fence */
	PMT_SCHEDULE_DEPARTED = 4, /* no switch: the same seed need not give the same order */
	PMT_SCHEDULE_GIVEN_UP = 5, /* no switch: from here on, the order is that of the machine */
};

/* The option of dmb and dsb: its domain, and the accesses that it orders. */
#define PMT_BARRIER_DOMAIN(option) ((option) >> 2 & 3) /* enum pmt_domain */
#define PMT_BARRIER_LOADS 1u                           /* in bits 0-1: orders earlier loads */
/* orders earlier stores; both bits or none: everything */
#define PMT_BARRIER_STORES 2u
enum pmt_domain { PMT_DOMAIN_OSH, PMT_DOMAIN_NSH, PMT_DOMAIN_ISH, PMT_DOMAIN_SY };

enum pmt_file_flags {
	PMT_FILE_CREATED = 1, /* did not exist when the recording began */
	PMT_FILE_MEMORY = 2,  /* not a file: memory registered with pmemcheck's request */
	PMT_FILE_DEVICE = 4,  /* a character device (/dev/dax…) */
	/* created under another name and completely synced before it got its name, so nobody ever
	 * sees less under that name */
	PMT_FILE_WHOLE = 8,
	PMT_FILE_REPLACED = 16, /* in addition, another file had that name before */
	PMT_FILE_FOLLOWED = 32, /* lies below a folder of --files */
	PMT_FILE_FOLDER = 64,
	PMT_FILE_SYMLINK = 128, /* its content is the path that it leads to */
};

/* How a name came to lead to a file. */
enum pmt_named {
	PMT_NAMED_BEFORE = 0, /* it did before the program did anything to it */
	PMT_NAMED_MADE = 1,   /* the file was made with this name */
	PMT_NAMED_LINKED = 2, /* link, linkat: another name, or the first one of a nameless file */
};

/* The first byte of a record. Bits 0-1 are 3 in a table record (bits 2-7: enum pmt_table);
 * otherwise it is an event. */
/* event: a thread number follows; else it is that of the previous event */
#define PMT_H_THREAD 1u
#define PMT_H_TABLE 3u      /* bits 0-1 */
#define PMT_H_VALUE_SHIFT 2 /* bits 2-4: enum pmt_value */
#define PMT_H_ADDR_SHIFT 5  /* bits 5-6: enum pmt_addr */
/* the site is the one that followed the previous event's site last time */
#define PMT_H_NEXT 0x80u

enum pmt_addr {
	/* this site's last address + its last stride */
	PMT_ADDR_STRIDE = 0,
	PMT_ADDR_ADJACENT = 1, /* the end of the previous event's bytes */
	PMT_ADDR_NEAR = 2,     /* the previous event's address + a signed number */
	PMT_ADDR_SITE = 3,     /* this site's last address + a signed number */
};

enum pmt_value {
	PMT_VALUE_0 = 0, /* all zero */
	PMT_VALUE_1 = 1, /* PMT_VALUE_1 to _6: so many low bytes follow, the others are zero */
	PMT_VALUE_2 = 2,
	PMT_VALUE_3 = 3,
	PMT_VALUE_4 = 4,
	PMT_VALUE_6 = 5,
	PMT_VALUE_ALL = 6,
	PMT_VALUE_DELTA = 7, /* up to 8 bytes: this site's last value + a signed number */
	PMT_VALUE_WORDS = 7, /* more than 8 bytes: a number per 8 bytes; the last may have fewer */
};

enum pmt_table {
	/* parent * 2 + is_signal, signed (pc - last node's pc); defines the next node, from 1 */
	PMT_TABLE_NODE = 0,
	/* node, signed (pc - last site's pc), kind, size; defines the next site, from 1 */
	PMT_TABLE_SITE = 1,
	PMT_TABLE_SEQ = 2,         /* n: skips n event numbers */
	PMT_TABLE_OBJECT = 3,      /* address, bytes, file offset, build id (blob), path (blob) */
	PMT_TABLE_OBJECT_GONE = 4, /* address, bytes */
	PMT_NTABLES
};

/* Hashes bytes. Every step is a bijection, so changing any single 8-byte word always changes the
 * result. */
static inline uint64_t pmt_hash(const void *data, uint32_t len_bytes)
{
	const unsigned char *p = (const unsigned char *)data;
	uint64_t h = 0x9e3779b97f4a7c15u ^ len_bytes, w;
	uint32_t i;

	for (; len_bytes >= 8; len_bytes -= 8, p += 8) {
		__builtin_memcpy(&w, p, 8);
		h = (h ^ w) * 0xff51afd7ed558ccdu;
		h ^= h >> 32;
	}
	for (w = 0, i = 0; i < len_bytes; i++)
		w |= (uint64_t)p[i] << (8 * i);
	h = (h ^ w) * 0xff51afd7ed558ccdu;
	return h ^ h >> 32;
}

/* Like pmt_hash(), but with four lanes that a processor computes in parallel: lane k takes the
 * words k, k + 4, k + 8, … The result differs from that of pmt_hash(). */
static inline uint64_t pmt_hash_lanes(const void *data, uint32_t len_bytes)
{
	const unsigned char *p = (const unsigned char *)data;
	uint64_t lanes[5] = { len_bytes, 1, 2, 3 }, w;
	uint32_t rest_bytes = len_bytes % 32, i;

	for (; p < (const unsigned char *)data + len_bytes - rest_bytes; p += 32)
		for (i = 0; i < 4; i++) {
			__builtin_memcpy(&w, p + 8 * i, 8);
			lanes[i] = (lanes[i] ^ w) * 0xff51afd7ed558ccdu;
			lanes[i] ^= lanes[i] >> 32;
		}
	lanes[4] = pmt_hash(p, rest_bytes);
	return pmt_hash(lanes, sizeof lanes);
}

/* Not part of the trace: memory that all processes of one recording share, of which only the
 * recorder knows the content. */
#define PMT_MEMORY_BYTES (4u << 20)

/* Sums up a page of PMT_PAGE_BYTES; bytes beyond the end of the file count as zeros. Gives 0 if all
 * bytes are zeros. */
static inline uint64_t pmt_page_sum(const void *page)
{
	const uint64_t *w = (const uint64_t *)page;
	uint64_t any = 0, sum;

	for (uint32_t i = 0; i < PMT_PAGE_BYTES / 8 && !any; i += 8)
		any = w[i] | w[i + 1] | w[i + 2] | w[i + 3] | w[i + 4] | w[i + 5] | w[i + 6] |
		      w[i + 7];
	if (!any)
		return 0;
	sum = pmt_hash_lanes(page, PMT_PAGE_BYTES);
	return sum ? sum : 1;
}

/* Hashes a chunk: its payload, and what its header says about it. Files before version 3 hash the
 * payload without lanes. */
static inline uint64_t pmt_chunk_hash(uint32_t version, const struct pmt_chunk *c,
				      const void *payload)
{
	const uint64_t words[5] = { version < 3 ? pmt_hash(payload, c->used)
						: pmt_hash_lanes(payload, c->used),
				    c->stream, c->number, c->first_seq, c->nevents };

	return pmt_hash(words, sizeof words);
}

static inline uint64_t pmt_zigzag(int64_t n)
{
	return ((uint64_t)n << 1) ^ (uint64_t)(n >> 63);
}

static inline int64_t pmt_unzigzag(uint64_t n)
{
	return (int64_t)(n >> 1) ^ -(int64_t)(n & 1);
}

#endif
