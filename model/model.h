/* Persistency models: what may be durable when. Pure: reads no files, prints nothing, has no
 * globals.
 *
 * model_step() takes the events of a trace in order. Between two steps, one may ask what a crash
 * now could leave behind:
 *
 *	struct model *m = model_new(platforms[0], NULL);
 *	while (trace_next(t, &ev)) {
 *		model_step(m, &ev);
 *		printf("%" PRIu64 " crash states\n", model_nstates(m));
 *	}
 *
 * The unit of loss is what the machine performs as one access: up to 8 bytes in an aligned word, 16
 * aligned bytes of a vector register, a locked compare-and-swap, a 64-byte movdir64b. Other vector
 * stores, stores across a word boundary, and string instructions are several units in any order.
 * Memory grows with the lines that have stores not guaranteed to be durable, not with the pool or
 * the trace. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

/* ---- platforms ---- */

/* Which plain stores an x86 processor performs as one access (docs/model.md, "Units"). */
enum x86_units {
	UNITS_BOTH = 0, /* what both Intel and AMD guarantee */
	UNITS_INTEL,    /* also up to 8 bytes anywhere in a cache line */
	UNITS_AMD,      /* also 16 aligned bytes of any vector instruction */
};

#define MODEL_LINE_BYTES_MAX 512u /* of all platforms */

struct platform {
	const char *name;
	const char *help;
	/* "amd64" or "arm64", whose instructions it describes; NULL: both */
	const char *isa;
	/* the unit that becomes durable by itself: 64 for a cache line, 512 for a sector */
	uint32_t line_bytes;
	/* eADR: what is visible is durable; only non-temporal stores wait for a fence */
	bool is_cache_durable;
	bool has_flush;     /* clwb and the like write back; else only msync and fsync do */
	bool is_page_cache; /* write(2) does not tear inside a line */
	/* arm64: stores of a line are partially ordered, and only dsb completes flushes */
	bool is_weak;
	enum x86_units units; /* for amd64 recordings */
	/* differs from an earlier row only in units; --platform all leaves it out */
	bool is_variant;
	/* arm64: data at the point of coherency is durable, so dc cvac is enough */
	bool is_coherency_enough;
};

extern const struct platform *const platforms[]; /* ends with NULL; the first is the default */
const struct platform *platform_find(const char *name);

/* Does this store bypass the cache, so that it needs no flush, but waits for a fence, unordered
 * with others? On arm64, and where nothing is flushed, non-temporal stores are like any other. */
static inline bool platform_is_unordered(const struct platform *p, const struct trace_event *ev)
{
	return ev->kind == PMT_STORE_NT && p->has_flush && !p->is_weak;
}

/* What a flush instruction does to a line. */
enum platform_flush {
	FLUSH_NONE,     /* nothing, on this platform or at all */
	FLUSH_NOW,      /* writes it back at once */
	FLUSH_AT_FENCE, /* writes it back by the thread's next fence */
	/* writes it back, but not far enough to be durable: dc cvac on arm64 */
	FLUSH_SHORT,
};
enum platform_flush platform_flush(const struct platform *p, enum pmt_kind kind);
/* Gives the first byte, and in *len_bytes the length, of the range that a flush writes back: one
 * line of the model, or several if the lines of the recorded machine are longer. */
uint64_t platform_flushed(const struct trace_event *ev, uint64_t *len_bytes);
/* Gives the first byte, and in *len_bytes the length, of the range that an msync makes durable:
 * whole pages, as POSIX says; for a supposed msync, its line. MS_ASYNC promises nothing: the length
 * is 0. */
uint64_t platform_synced(const struct trace_event *ev, uint64_t *len_bytes);
/* A supposed msync of one cache line, in arg[2]. No trace has it; it is for code that supposes that
 * a program did more than it does (crash/states/whatif.h). */
enum model_supposed {
	MODEL_AS_RECORDED,
	MODEL_SETTLE, /* the line is durable as it is now, and nothing else */
	/* what its thread has flushed of this line is durable, as if a fence waited for nothing
	 * else */
	MODEL_COMPLETE,
};
/* Asks whether the event orders its thread's earlier stores before the later ones. dmb and dsb of
 * arm64 do, in all domains, except in the forms for loads only. */
bool platform_is_store_barrier(const struct trace_event *ev);

/* ---- the model ---- */

struct model;

/* Where the model gets the durable content of a line that is stored to, and where it puts content
 * that is durable for good. Either may be NULL: then unknown content is zero, or durable content is
 * forgotten. */
struct model_image {
	void (*read)(void *arg, uint64_t addr, uint8_t *bytes, uint32_t len_bytes);
	void (*write)(void *arg, uint64_t addr, const uint8_t *bytes, uint32_t len_bytes);
	void *arg;
};

struct model *model_new(const struct platform *p, const struct model_image *image);
void model_free(struct model *m);
const struct platform *model_platform(const struct model *m);
/* Applies the next event of the trace. Events come in the order of ev->seq, which must grow. */
void model_step(struct model *m, const struct trace_event *ev);
/* Judges PMDK's libraries like other code: on arm64, their dmb then completes no flush. */
void model_distrust(struct model *m);
/* Asks whether the event is a non-temporal store of PMDK's libraries in an amd64 recording that is
 * judged on arm64. PMDK's code for arm64 stores and flushes instead, so the store waits for the
 * thread's next fence. */
bool model_is_flushed(const struct model *m, const struct trace_event *ev);
/* Counts how often a dmb of PMDK's libraries was taken for a dsb, which the library should have
 * there. */
uint64_t model_ntrusted(const struct model *m);
/* Sets a function that is called during model_step() when a store, or its part in one line, can no
 * longer be lost: once per part. Stores of forgotten states (below) may be left out. */
void model_on_durable(struct model *m, void (*f)(uint64_t seq, void *arg), void *arg);

/* ---- stores that are not guaranteed to be durable now ---- */

enum model_state {
	MODEL_DIRTY, /* in the cache, not written back since */
	/* written back by clwb or clflushopt, or non-temporal: durable at that thread's next
	 * fence */
	MODEL_PENDING,
	/* on its way into a cache that survives (eadr on arm64): it needs no action, but other
	 * stores may arrive before it */
	MODEL_LATE,
};

/* A store that a crash could lose. Bytes that were overwritten later still count as long as a crash
 * could show them. addr and size_bytes are of the part of the store in one line. */
struct model_store {
	uint64_t seq;
	const struct trace_site *site;
	uint64_t addr;
	uint32_t size_bytes;
	uint32_t stream, thread;
	enum pmt_kind kind;
	enum model_state state;
	bool is_overwritten; /* later stores cover all of its bytes */
	/* of MODEL_PENDING: the last flush that captured it; NULL for non-temporal stores */
	const struct trace_site *flush;
	uint64_t flush_seq;
	uint32_t flush_stream, flush_thread; /* of the thread whose fence it waits for */
};

/* Calls f for each store that a crash could lose and that touches [addr, addr + len_bytes): by
 * address, then in the order of execution. */
void model_each(const struct model *m, uint64_t addr, uint64_t len_bytes,
		void (*f)(const struct model_store *s, void *arg), void *arg);
/* Gives the first store that model_each() would give and that nothing has written back yet;
 * is_overwritten is not computed. False: there is none. */
bool model_first_dirty(const struct model *m, uint64_t addr, uint64_t len_bytes,
		       struct model_store *out);
/* Does the machine perform this store as one access? Never across a cache line, even on platforms
 * with longer lines (docs/model.md, "Units"). */
bool model_is_one_access(const struct model *m, const struct trace_event *ev);
/* Gives the size of the units in which a crash can lose the store: 0 if the whole store is one
 * unit; else each aligned word of so many bytes is a unit. */
uint32_t model_unit_bytes(const struct model *m, const struct trace_event *ev);
/* Is the order of a line's stores partial (arm64)? */
bool model_is_partial_order(const struct model *m);
bool model_is_ported(const struct model *m); /* an amd64 recording that is judged on arm64 */
/* Does the cache survive, while stores reach it in no order (eadr on arm64)? Then each waits for
 * what orders its thread's stores. */
bool model_is_late(const struct model *m);
/* Says which bytes of a line show their newest value whenever a crash shows the newest value of the
 * byte at addr. Bit i is byte i of the line. */
uint64_t model_kept_with(const struct model *m, uint64_t addr);
/* Gives a seq, before model_step() takes the store ev: while this store survives a crash, its
 * thread's stores to the same line up to that seq survive, too. If a line's stores are a sequence,
 * these are all of them. The same holds for stores that ev overlaps, and for what other threads
 * stored before. */
uint64_t model_follows(const struct model *m, const struct trace_event *ev);
/* Counts the lines with stores that could be lost. */
size_t model_nlines(const struct model *m);
/* Can a crash from now on show only the newest value of each of these bytes? */
bool model_is_durable(const struct model *m, uint64_t addr, uint64_t len_bytes);

/* Has a line that these bytes touch stores from before event seq that could be lost? */
bool model_has_older(const struct model *m, uint64_t addr, uint64_t len_bytes, uint64_t seq);

/* What a flush would achieve if it came next. */
enum model_use {
	MODEL_USEFUL,
	/* everything that it would write back is already pending for this thread */
	MODEL_REDUNDANT,
	MODEL_NOTHING, /* there is nothing to write back */
};
/* Does the event complete what its thread has flushed, as a fence does? */
bool model_completes(const struct model *m, const struct trace_event *ev);
enum model_use model_flush_use(const struct model *m, const struct trace_event *flush);

/* Could a crash before this event leave states that a crash after it cannot? Then a crash just
 * before it is worth trying. */
bool model_reduces(const struct model *m, const struct trace_event *ev);

/* ---- crash states ----
 *
 * A line that is stored to repeatedly without being written back could show each of the values.
 * Beyond MODEL_LINE_STORES stores in one line (MODEL_LINE_STORES_FEW while more than MODEL_STORES
 * are kept in all), the model forgets states, but never sites: the newest store of each site is
 * kept. So memory stays bounded, and every state that is still offered is reachable.
 * model_is_exact() says that nothing was forgotten. */
#define MODEL_LINE_STORES 128
#define MODEL_LINE_STORES_FEW 8
#define MODEL_STORES ((size_t)1 << 20)
bool model_is_exact(const struct model *m);

/* Beyond this many combinations (more than 16 unordered units in a line), a choice lists only some;
 * then ask for the values of certain bytes. */
#define MODEL_LINE_CONTENTS 65536

/* The different contents that a crash now could leave in a line. There is a choice for each line
 * that has more than one, or one that is not the image's. Lines are independent, so the number of
 * states is the product. */
struct model_choice {
	uint64_t addr; /* of the line */
	uint32_t len_bytes;
	size_t ncontents;
	const uint8_t *contents; /* ncontents × len_bytes, sorted, all different */
	/* for each content: the lowest number of stores (or independent units) that a crash must
	 * lose to show it */
	const uint32_t *nlost;
	bool is_partial; /* there are more contents than could be listed */
	/* a bit per byte in which contents are told apart, or cannot differ; all of them, except
	 * after model_each_asked() */
	uint64_t asked;
};
void model_each_choice(const struct model *m, void (*f)(const struct model_choice *c, void *arg),
		       void *arg);
/* Like model_each_choice(), but where the order is partial, lists of a line with more than `max`
 * contents only those that differ in bytes for which asked() gives a bit. Of the contents that
 * agree in them, it is the one that loses least. */
void model_each_asked(const struct model *m, size_t max,
		      uint64_t (*asked)(uint64_t addr, void *arg),
		      void (*f)(const struct model_choice *c, void *arg), void *arg);

/* A store that is lost when a crash shows a certain content and loses as little as possible. */
struct model_lost {
	uint64_t seq;
	const struct trace_site *site;
	uint64_t addr; /* of the store's part in the line */
	uint32_t size_bytes;
	uint32_t stream, thread;
	bool is_partly; /* some units of it survived */
	/* in a partial order: no lost store comes before it, so it might as well survive */
	bool is_free;
};
/* Calls f for each store that is lost if the line at addr shows this content. False if a crash
 * cannot show it. */
bool model_each_lost(const struct model *m, uint64_t addr, const uint8_t *content,
		     void (*f)(const struct model_lost *s, void *arg), void *arg);

/* Asks whether the event is a copy by a string instruction or the kernel, on a platform where the
 * cache survives. The parts of such a copy may become visible in any order until the next event. */
bool model_is_open(const struct model *m, const struct trace_event *ev);

/* Could a crash leave this content if the line's stores were lost from the newest backwards, as on
 * amd64? True for every possible content, unless the order is partial. */
bool model_is_in_sequence(const struct model *m, uint64_t addr, const uint8_t *content);

/* Calls f for each different value that a crash now could leave in these bytes of one line. Looks
 * only at stores to them and at what orders those, so there may be few even if the whole line has
 * too many. False if there are more than MODEL_LINE_CONTENTS, and some were left out. */
bool model_each_value(const struct model *m, uint64_t addr, uint32_t len_bytes,
		      void (*f)(const uint8_t *value, void *arg), void *arg);

/* Counts the different states; UINT64_MAX also stands for too many to count. */
uint64_t model_nstates(const struct model *m);

#endif
