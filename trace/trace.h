/* Reads traces: gives one event after the other, those of several recorded processes merged by
 * event number.
 *
 *	struct trace *t;
 *	if (trace_open(&t, path, &err) < 0) …
 *	while (trace_next(t, &ev)) …
 *	if (trace_damage(t)) warn("%s", trace_damage(t));
 *	trace_close(t);
 *
 * A struct trace is a cursor. Open a trace once; whoever reads it again takes another cursor, which
 * shares the mapped file and everything that was defined and checked. Memory grows with the number
 * of different call paths, not of events. */
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
	uint32_t id; /* counts the objects of the trace from 0 */
	/* enum owner plus 1; owner_of_site() needs it for every event. 0: not yet known */
	uint8_t owner;
	char *path;
};

/* A frame of a call stack: the return address, and the node of its caller. The outermost frame has
 * no parent. */
struct trace_node {
	const struct trace_node *parent;
	const struct trace_object *object; /* the object that contains pc; NULL if none does */
	uint64_t pc;
	bool is_signal; /* not a call: a signal interrupted the program at pc */
};

/* An instruction, called through one stack, that makes one kind of event of one size. */
struct trace_site {
	const struct trace_node *node; /* the caller's frame; NULL at the outermost level */
	const struct trace_object *object;
	uint64_t pc; /* the instruction; 0 if unknown */
	uint32_t id; /* counts the sites of the trace from 1 */
	uint32_t size_bytes;
	enum pmt_kind kind;
};

struct trace_event {
	uint64_t seq; /* counts all events from 1, in the order of execution */
	const struct trace_site *site;
	enum pmt_kind kind;
	uint32_t stream;     /* the recorded process, from 0 */
	uint32_t thread;     /* the thread of that process, from 1 */
	uint32_t size_bytes; /* of a store, load or flush */
	/* PM address if the kind has one: PMT_FILE() and PMT_OFFSET() take it apart */
	uint64_t addr;
	uint64_t arg[PMT_MAX_ARGS];
	/* stored bytes, valid until the next trace_next(); or a blob, valid until the last cursor
	 * is closed */
	const uint8_t *data;
	uint32_t data_len;
};

/* A row of PMT_KINDS. */
struct trace_kind {
	const char *name;
	uint8_t carries; /* enum pmt_carries */
	uint8_t nargs;
};
/* name is NULL for an unused number */
extern const struct trace_kind trace_kinds[PMT_NKINDS];
static inline bool trace_is_store(enum pmt_kind k)
{
	return (k >= PMT_STORE && k <= PMT_STORE_SYS) ||
	       (k >= PMT_STORE_PAIR && k <= PMT_STORE_ORDERED);
}
/* Asks whether the event is a store of a read-modify-write instruction. The store of an arm64
 * exclusive pair looks like any other store. */
static inline bool trace_is_atomic(const struct trace_event *ev)
{
	return ev->kind == PMT_STORE_RMW ||
	       (ev->kind == PMT_STORE_ORDERED && (ev->arg[0] & PMT_ORDER_ATOMIC));
}
/* Does the instruction write a cache line back, to whatever point? */
static inline bool trace_is_flush(enum pmt_kind k)
{
	return (k >= PMT_CLFLUSH && k <= PMT_CLWB) || (k >= PMT_DC_CVAC && k <= PMT_DC_CVADP);
}
/* Is the instruction only a fence or barrier? */
static inline bool trace_is_barrier(enum pmt_kind k)
{
	return k == PMT_SFENCE || k == PMT_MFENCE || k == PMT_DMB || k == PMT_DSB;
}
/* Gives how many bytes an OLD event describes, limited to its file in case the trace is damaged. */
static inline uint64_t trace_old_len(const struct trace_event *ev)
{
	const uint64_t left = PMT_ADDR(1, 0) - PMT_OFFSET(ev->addr);

	return ev->arg[0] < left ? ev->arg[0] : left;
}
/* Gives the option of a dmb or dsb as an assembler writes it, such as "ishst". */
const char *trace_barrier_option(uint64_t option);
bool trace_kind_by_name(const char *name, enum pmt_kind *kind);

/* A PM file. Known once its FILE event was read. */
struct trace_file {
	const char *path;
	uint64_t size_bytes; /* after the events read so far */
	uint32_t flags;      /* enum pmt_file_flags */
};

struct trace;

int trace_open(struct trace **t, const char *path, struct error *err);
/* Makes a new cursor at the beginning of the same trace. All cursors share sites, nodes and
 * objects, which live until the last cursor is closed. */
struct trace *trace_cursor(const struct trace *t);
void trace_close(struct trace *t);
const char *trace_path(const struct trace *t); /* the path given to trace_open() */

/* Reads the next event. False at the end, which may be early: see trace_damage(). */
bool trace_next(struct trace *t, struct trace_event *ev);

/* Says in one sentence what is wrong or missing, and where; NULL if nothing is, so far. Final after
 * trace_next() returned false. */
const char *trace_damage(const struct trace *t);

/* True if the only damage is that processes were killed while they were recorded: all events up to
 * that moment are there. Final after trace_next() returned false. */
bool trace_is_cut_off(const struct trace *t);

/* Says how the first process ended, if its parent wrote that into the trace. */
struct pmt_ending trace_ending(const struct trace *t);

/* True if the first process ended normally; false if it was killed or still runs. */
bool trace_finished(const struct trace *t);

uint32_t trace_nfiles(const struct trace *t);
/* Finds a PM file by its number, from 1; NULL if no event has named it. */
const struct trace_file *trace_file(const struct trace *t, uint32_t file);
/* Has one of the PM files this path? */
static inline bool trace_has_file(const struct trace *t, const char *path)
{
	for (uint32_t i = 1; i <= trace_nfiles(t); i++)
		if (trace_file(t, i) && strcmp(trace_file(t, i)->path, path) == 0)
			return true;
	return false;
}

/* Counts the programs and libraries that the processes have loaded so far. */
size_t trace_nobjects(const struct trace *t);
const struct trace_object *trace_object(const struct trace *t, size_t i);

/* Gives the value of a META event "key=value" among those read so far; NULL if there is none. */
const char *trace_meta(const struct trace *t, const char *key); /* the newest value */
/* Gives an older value of a META event: nth 0 is the newest value of the key, 1 the one before it;
 * NULL if there are not so many. */
const char *trace_meta_older(const struct trace *t, const char *key, size_t nth);

/* Says why PM may have changed without an event, as the INCOMPLETE events read so far say. NULL:
 * there was no such event. */
const char *trace_unseen(const struct trace *t);

uint64_t trace_size_bytes(const struct trace *t);

#endif
