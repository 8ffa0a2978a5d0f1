/* Persistency models: what may be durable when. Pure: reads nothing, prints nothing, has no
 * globals.
 *
 * model_step() takes the events of a trace in order; between two steps one may ask what a crash
 * could leave behind. The unit is what the machine performs as one access: up to 8 bytes inside an
 * aligned word, 16 aligned bytes of a vector register, a locked compare-and-swap, a 64-byte
 * movdir64b; other vector stores, stores that cross a word, and what a string instruction stores
 * are several units in any order. Memory grows with lines that have stores which are not guaranteed
 * to be durable, not with the pool or the trace. */
#ifndef MODEL_MODEL_H
#define MODEL_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/trace.h"

/* ---- platforms ---- */

/* Which plain stores an x86 processor performs as one access: docs/model.md, "Units". */
enum x86_units {
	UNITS_BOTH = 0, /* what Intel and AMD guarantee */
	UNITS_INTEL,    /* also up to 8 bytes anywhere inside a cache line */
	UNITS_AMD,      /* also 16 aligned bytes by any vector instruction */
};

struct platform {
	const char *name;
	const char *help;
	/* whose instructions it is about: "amd64", "arm64"; NULL: either's */
	const char *isa;
	/* what becomes durable on its own: 64 for a cache line, 512 for a sector */
	uint32_t line_bytes;
	/* eADR: visible is durable; only non-temporal stores wait for a fence */
	bool is_cache_durable;
	bool has_flush;     /* clwb and the like write back; else only msync and fsync do */
	bool is_page_cache; /* write(2) is not torn inside a line */
	/* arm64: stores of a line are a partial order, and only dsb completes flushes */
	bool is_weak;
	enum x86_units units; /* of an amd64 recording */
	/* differs from an earlier row in units only: --platform all leaves it out */
	bool is_variant;
	/* arm64: no point of persistence lies beyond that of coherency, so that dc cvac is
	 * enough */
	bool is_coherency_enough;
};

extern const struct platform *const platforms[]; /* ends with NULL; the first is the default */
const struct platform *platform_find(const char *name);

/* Does this store bypass the cache, so that it needs no flush but waits for a fence, in no order
 * with others? Where nothing is flushed, and on arm64, non-temporal stores are like any other. */
static inline bool platform_is_unordered(const struct platform *p, const struct trace_event *ev)
{
	return ev->kind == PMT_STORE_NT && p->has_flush && !p->is_weak;
}

/* What an instruction does to a line. */
enum platform_flush {
	FLUSH_NONE,     /* nothing, there or at all */
	FLUSH_NOW,      /* writes it back at once */
	FLUSH_AT_FENCE, /* writes it back; that is done at the thread's next fence */
	/* writes it back, but not as far as where data is durable: dc cvac on arm64 */
	FLUSH_SHORT,
};
enum platform_flush platform_flush(const struct platform *p, enum pmt_kind kind);
/* What a flush is about: a cache line, or several of ours where the machine's are longer. Gives the
 * first byte. */
uint64_t platform_flushed(const struct trace_event *ev, uint64_t *len_bytes);
/* What msync makes durable: whole pages, as POSIX says; of one that is supposed, its line. Gives
 * the first byte. MS_ASYNC promises nothing: *len_bytes is 0. */
uint64_t platform_synced(const struct trace_event *ev, uint64_t *len_bytes);
/* No trace has these: an msync of one cache line, for those who suppose that a program did more
 * than it does (crash/states/whatif.h). In arg[2]. */
enum model_supposed {
	MODEL_AS_RECORDED,
	MODEL_SETTLE, /* the line is durable as it is now; nothing else is */
	/* of what its thread flushed, this line is complete, as if a fence waited for nothing
	 * else */
	MODEL_COMPLETE,
};
/* Does it order its thread's earlier stores before the later ones? For dmb and dsb of arm64, of all
 * domains; the forms for loads do not. */
bool platform_is_store_barrier(const struct trace_event *ev);

/* ---- the model ---- */

struct model;

/* The durable content of a line that is being stored to, for those who want to see states as bytes;
 * and where content goes that became durable for good. Both may be NULL: then unseen content is
 * zero, and durable content is forgotten. */
struct model_image {
	void (*read)(void *arg, uint64_t addr, uint8_t *bytes, uint32_t len_bytes);
	void (*write)(void *arg, uint64_t addr, const uint8_t *bytes, uint32_t len_bytes);
	void *arg;
};

struct model *model_new(const struct platform *p, const struct model_image *image);
void model_free(struct model *m);
const struct platform *model_platform(const struct model *m);
/* in the order of ev->seq, which must grow */
void model_step(struct model *m, const struct trace_event *ev);
/* From now on PMDK's libraries are judged like other code: on arm64, their dmb completes no
 * flush. */
void model_distrust(struct model *m);
/* A non-temporal store of PMDK's libraries, of an amd64 recording on arm64: their code for arm64
 * stores and flushes instead, so that it waits for the thread's next fence. */
bool model_is_flushed(const struct model *m, const struct trace_event *ev);
/* How often a dmb of PMDK's libraries was taken for the dsb that should be there. */
uint64_t model_ntrusted(const struct model *m);
/* Tells when a store, or its part in one line, can no longer be lost: during the step that sees to
 * it. Once for each part. Stores of states that were forgotten (below) may be passed over in
 * silence. */
void model_on_durable(struct model *m, void (*f)(uint64_t seq, void *arg), void *arg);

/* ---- stores that are not guaranteed to be durable now ---- */

enum model_state {
	MODEL_DIRTY, /* in the cache, never written back since */
	/* written back by a clwb or clflushopt (or non-temporal): durable at that thread's next
	 * fence */
	MODEL_PENDING,
	/* on its way into a cache that survives (eadr, arm64): nobody has to do anything, but
	 * others may arrive before it */
	MODEL_LATE,
};

/* A store, or what a later one left of it: bytes that were overwritten since are still named as
 * long as a crash could show them. addr and size_bytes are of the whole store instruction's part in
 * one line. */
struct model_store {
	uint64_t seq;
	const struct trace_site *site;
	uint64_t addr;
	uint32_t size_bytes;
	uint32_t stream, thread;
	enum pmt_kind kind;
	enum model_state state;
	bool is_overwritten; /* every byte of it was stored again later */
	/* MODEL_PENDING: the flush that captured it last; NULL for non-temporal */
	const struct trace_site *flush;
	uint64_t flush_seq;
	uint32_t flush_stream, flush_thread; /* whose fence it waits for */
};

/* Calls f for each such store that touches [addr, addr + len), in order of address, then of
 * execution. */
void model_each(const struct model *m, uint64_t addr, uint64_t len_bytes,
		void (*f)(const struct model_store *s, void *arg), void *arg);
/* Does the machine perform this store as one? Never across a cache line, however long a platform's
 * are: docs/model.md, "units". */
bool model_is_one_access(const struct model *m, const struct trace_event *ev);
/* 0: as one; else in aligned words of so many bytes. */
uint32_t model_unit_bytes(const struct model *m, const struct trace_event *ev);
/* Is the order of a line's stores partial (arm64)? Then, if a crash shows the newest value of the
 * byte at addr: the bytes of its line that show their newest value, too; bit i is byte i. */
bool model_is_partial_order(const struct model *m);
bool model_is_ported(const struct model *m); /* an amd64 recording, judged on arm64 */
/* The cache survives, but stores arrive there in no order (eadr on arm64): each waits for what
 * orders its thread's stores. */
bool model_is_late(const struct model *m);
uint64_t model_kept_with(const struct model *m, uint64_t addr);
/* Of a store, before model_step() takes it: of its thread's stores to the same line, those up to
 * this event cannot be lost while it survives. Where a line's stores are a sequence, that is all of
 * them. So are those that overlap with it, and what other threads stored before. */
uint64_t model_follows(const struct model *m, const struct trace_event *ev);
/* The number of lines with such stores. */
size_t model_nlines(const struct model *m);
/* No crash from now on could show anything but the newest value of each of these bytes. */
bool model_is_durable(const struct model *m, uint64_t addr, uint64_t len_bytes);

/* Do lines that these bytes touch have such stores from before this event? */
bool model_has_older(const struct model *m, uint64_t addr, uint64_t len_bytes, uint64_t seq);

/* What an operation would achieve if it came next. */
enum model_use {
	MODEL_USEFUL,
	MODEL_REDUNDANT, /* what there is to write back is pending already, by this thread */
	MODEL_NOTHING,   /* there is nothing to write back */
};
/* Does it complete what its thread has flushed: a fence? */
bool model_completes(const struct model *m, const struct trace_event *ev);
enum model_use model_flush_use(const struct model *m, const struct trace_event *flush);

/* Whether a crash before this event could leave states that one after it cannot: a crash just
 * before it is worth a look. */
bool model_reduces(const struct model *m, const struct trace_event *ev);

/* ---- crash states ----
 *
 * A line that is stored to again and again without being written back could show each value. Past
 * MODEL_LINE_STORES stores in one line (MODEL_LINE_STORES_FEW while more than MODEL_STORES are kept
 * in all), the model forgets states (never sites: the newest store of each stays), so that memory
 * stays bounded; the states that it still offers are reachable. model_is_exact() says that it never
 * had to. */
#define MODEL_LINE_STORES 128
#define MODEL_LINE_STORES_FEW 8
#define MODEL_STORES ((size_t)1 << 20)
bool model_is_exact(const struct model *m);

/* Past this many combinations (more than 16 unordered units in one line), a choice lists only some;
 * then ask for values of the bytes in question. */
#define MODEL_LINE_CONTENTS 65536

/* The different contents that a crash now could leave in each line that has more than one, and in
 * those with one that is not the image's. Lines are independent of each other: the number of states
 * is the product. */
struct model_choice {
	uint64_t addr; /* of the line */
	uint32_t len_bytes;
	size_t ncontents;
	const uint8_t *contents; /* ncontents × len_bytes, sorted, distinct */
	/* for each: how many stores (or independent units of one) a crash must at least lose to
	 * show it */
	const uint32_t *nlost;
	bool is_partial; /* there are more: too many to list */
	/* a bit for each byte in which contents are told apart, or cannot differ; all, unless
	 * model_each_asked() says otherwise */
	uint64_t asked;
};
void model_each_choice(const struct model *m, void (*f)(const struct model_choice *c, void *arg),
		       void *arg);
/* The same, but where the order is partial, of a line with more than `max` contents only those that
 * differ in bytes that somebody asks for: asked() gives a bit for each. Of the contents that agree
 * in them, it is the one that loses least. */
void model_each_asked(const struct model *m, size_t max,
		      uint64_t (*asked)(uint64_t addr, void *arg),
		      void (*f)(const struct model_choice *c, void *arg), void *arg);

/* The stores that are lost when a crash now shows this content in the line at addr, where it loses
 * least. False: it cannot show it. */
struct model_lost {
	uint64_t seq;
	const struct trace_site *site;
	uint64_t addr; /* of the store's part in the line */
	uint32_t size_bytes;
	uint32_t stream, thread;
	bool is_partly; /* some units of it survived */
	/* where the order is partial: nothing else that is lost comes before it, so that it might
	 * survive, too */
	bool is_free;
};
bool model_each_lost(const struct model *m, uint64_t addr, const uint8_t *content,
		     void (*f)(const struct model_lost *s, void *arg), void *arg);

/* The cache survives, but of what a string instruction or the kernel copies, parts may be visible
 * in any order until the next event. */
bool model_is_open(const struct model *m, const struct trace_event *ev);

/* Would a crash leave this content in the line at addr if its stores were lost from the newest
 * backwards, as they are on amd64? Where the order is partial, not every content is like that;
 * where it is not, every one is that a crash can leave. */
bool model_is_in_sequence(const struct model *m, uint64_t addr, const uint8_t *content);

/* Calls f for each different value that a crash now could leave in these bytes of one line. Only
 * stores to them, and what orders those, are looked at, so that there may be few where the whole
 * line has too many. False: there are more than MODEL_LINE_CONTENTS here, too, and some were left
 * out. */
bool model_each_value(const struct model *m, uint64_t addr, uint32_t len_bytes,
		      void (*f)(const uint8_t *value, void *arg), void *arg);

/* The number of distinct states, saturating at UINT64_MAX, which also stands for a line with too
 * many to list. */
uint64_t model_nstates(const struct model *m);

#endif
