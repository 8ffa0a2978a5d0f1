/* Reading traces: a stream of events over mmap, several recorded processes merged by event number.
 *
 *	struct trace *t;
 *	if (trace_open(&t, path, &err) < 0) …
 *	while (trace_next(t, &ev)) …
 *	if (trace_damage(t)) warn("%s", trace_damage(t));
 *	trace_close(t);
 *
 * A struct trace is a cursor. Open a trace once and hand it on: who reads it again takes another
 * cursor over the same mapping, which shares all that was defined and checked. Memory grows with
 * distinct call paths, not with events. */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include <string.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmtrace.h"
#include "util/error.h"

/* A piece of an ELF file that was mapped executable while the program ran. */
struct trace_object {
	uint64_t va, len_bytes, offset; /* where it was mapped, and from where in the file */
	uint8_t build_id[32];
	uint32_t build_id_len;
	uint32_t id; /* unique in the trace, from 0 */
	/* enum owner plus 1, for owner_of_site(), which is asked at every event; 0: not known
	 * yet */
	uint8_t owner;
	char *path;
};

/* A calling context: where a frame was called from (the return address). The outermost has no
 * parent. */
struct trace_node {
	const struct trace_node *parent;
	const struct trace_object *object; /* that holds pc; NULL if none did */
	uint64_t pc;
	bool is_signal; /* not called: interrupted at pc by a signal */
};

/* An instruction in a calling context that makes one kind of event. */
struct trace_site {
	const struct trace_node *node; /* the caller, NULL at the outermost level */
	const struct trace_object *object;
	uint64_t pc; /* of the instruction; 0 if unknown */
	uint32_t id; /* unique in the trace, from 1 */
	uint32_t size_bytes;
	enum pmt_kind kind;
};

struct trace_event {
	uint64_t seq; /* from 1, in the order of execution */
	const struct trace_site *site;
	enum pmt_kind kind;
	uint32_t stream;     /* which recorded process, from 0 */
	uint32_t thread;     /* which thread of it, from 1 */
	uint32_t size_bytes; /* of a store, load or flush */
	uint64_t addr;       /* PM address, see PMT_FILE() and PMT_OFFSET(); if the kind has one */
	uint64_t arg[PMT_MAX_ARGS];
	/* the stored bytes, valid until the next call; or the blob, valid until the last cursor is
	 * closed */
	const uint8_t *data;
	uint32_t data_len;
};

/* A row of PMT_KINDS. */
struct trace_kind {
	const char *name;
	uint8_t carries; /* enum pmt_carries */
	uint8_t nargs;
};
/* name is NULL where there is no such kind */
extern const struct trace_kind trace_kinds[PMT_NKINDS];
static inline bool trace_is_store(enum pmt_kind k)
{
	return (k >= PMT_STORE && k <= PMT_STORE_SYS) ||
	       (k >= PMT_STORE_PAIR && k <= PMT_STORE_ORDERED);
}
/* A store that reads and writes at once; an exclusive pair of arm64 looks like any other store. */
static inline bool trace_is_atomic(const struct trace_event *ev)
{
	return ev->kind == PMT_STORE_RMW ||
	       (ev->kind == PMT_STORE_ORDERED && (ev->arg[0] & PMT_ORDER_ATOMIC));
}
/* An instruction that writes a line back, however far. */
static inline bool trace_is_flush(enum pmt_kind k)
{
	return (k >= PMT_CLFLUSH && k <= PMT_CLWB) || (k >= PMT_DC_CVAC && k <= PMT_DC_CVADP);
}
/* An instruction that does nothing but wait or order. */
static inline bool trace_is_barrier(enum pmt_kind k)
{
	return k == PMT_SFENCE || k == PMT_MFENCE || k == PMT_DMB || k == PMT_DSB;
}
/* How many bytes an OLD event is about: of its file, whatever a damaged trace says. */
static inline uint64_t trace_old_len(const struct trace_event *ev)
{
	const uint64_t left = PMT_ADDR(1, 0) - PMT_OFFSET(ev->addr);

	return ev->arg[0] < left ? ev->arg[0] : left;
}
/* of dmb and dsb, as an assembler writes it: "ishst" */
const char *trace_barrier_option(uint64_t option);
bool trace_kind_by_name(const char *name, enum pmt_kind *kind);

/* A PM file, as its FILE event told; valid once that event was read. */
struct trace_file {
	const char *path;
	uint64_t size_bytes; /* as of the event last read */
	uint32_t flags;      /* enum pmt_file_flags */
};

struct trace;

int trace_open(struct trace **t, const char *path, struct error *err);
/* Another cursor, at the beginning. Sites, nodes and objects are the same for all, and stay until
 * the last cursor is closed. */
struct trace *trace_cursor(const struct trace *t);
void trace_close(struct trace *t);
const char *trace_path(const struct trace *t); /* as it was opened */

/* The next event. False at the end, which may be an early one: see trace_damage(). */
bool trace_next(struct trace *t, struct trace_event *ev);

/* What is wrong or missing, in one sentence that says where; NULL when the trace is whole so far.
 * Final after trace_next() returned false. */
const char *trace_damage(const struct trace *t);

/* Nothing else is wrong than that processes were killed while they were recorded: every event up to
 * then is there. Final likewise. */
bool trace_is_cut_off(const struct trace *t);

/* How the first process ended, as far as its parent said so. */
struct pmt_ending trace_ending(const struct trace *t);

/* True when the first process ended in an orderly way; false when it was killed or is still
 * running. */
bool trace_finished(const struct trace *t);

uint32_t trace_nfiles(const struct trace *t);
/* NULL if unknown; numbers start at 1 */
const struct trace_file *trace_file(const struct trace *t, uint32_t file);
/* A file with this path is among them. */
static inline bool trace_has_file(const struct trace *t, const char *path)
{
	for (uint32_t i = 1; i <= trace_nfiles(t); i++)
		if (trace_file(t, i) && strcmp(trace_file(t, i)->path, path) == 0)
			return true;
	return false;
}

/* Programs and libraries that some process has loaded so far. */
size_t trace_nobjects(const struct trace *t);
const struct trace_object *trace_object(const struct trace *t, size_t i);

/* Value of the META event "key=value" read so far, or NULL. */
const char *trace_meta(const struct trace *t, const char *key); /* the newest */
/* 0: the newest; NULL: there are not so many */
const char *trace_meta_older(const struct trace *t, const char *key, size_t nth);

/* Why PM may have changed without an event, by the INCOMPLETE events read so far, or NULL. */
const char *trace_unseen(const struct trace *t);

uint64_t trace_size_bytes(const struct trace *t);

#endif
