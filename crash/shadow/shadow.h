/* A shadow of persistent memory, as in XFDetector: for each byte, whether its last store is durable
 * (the persistence state), when and where it was stored last and changed last, and whether it is
 * consistent by the commit variable that decides about it. Pure: fed with the events of a trace.
 * Bytes are told apart; memory grows with lines that were ever stored to.
 *
 * What an event does to what is stored is asked of a model of the same events, one step behind.
 *
 * Time is the number of an event: it tells stores of one epoch apart where the paper's timestamps
 * (one for each ordering point) do not. */
#ifndef CRASH_SHADOW_SHADOW_H
#define CRASH_SHADOW_SHADOW_H

#include "crash/shadow/commits.h"

enum shadow_state {
	SHADOW_UNMODIFIED, /* not stored to */
	SHADOW_MODIFIED,
	/* its write-back is under way: until a fence of the thread that asked for it */
	SHADOW_PENDING,
	SHADOW_PERSISTED,
};

struct shadow_write {
	uint64_t seq; /* 0: none */
	const struct trace_site *site;
	bool is_trusted; /* not to be judged */
	bool is_in_tx;   /* in a transaction, which has a commit of its own */
};

struct shadow_byte {
	enum shadow_state state;
	struct shadow_write last;    /* store to it */
	struct shadow_write changed; /* store that changed its value */
	bool is_stored_again;        /* the last store is not the first */
};

/* Memory that an allocator handed out without content. */
struct shadow_block {
	uint64_t addr, len_bytes;
	struct shadow_write given;
};

struct shadow;

/* m: takes each event after shadow_step() has. image: for the content before the first store; may
 * be NULL: zeros. commits: sealed, taken over. */
struct shadow *shadow_new(const struct model *m, const struct model_image *image,
			  struct commits *commits);
void shadow_free(struct shadow *s);
const struct commits *shadow_commits(const struct shadow *s);
/* of what is stored by an event: see shadow_write */
enum shadow_flags { SHADOW_TRUSTED = 1, SHADOW_IN_TX = 2 };
void shadow_step(struct shadow *s, const struct trace_event *ev, unsigned flags);

struct shadow_byte shadow_byte(const struct shadow *s, uint64_t addr);
/* All of it is unmodified or persisted. */
bool shadow_is_persisted(const struct shadow *s, uint64_t addr, uint64_t len_bytes);

/* Calls f for lines with bytes that would be inconsistent with some value of their commit variable
 * that a crash now can leave: bit i of mask is byte addr + i. Lines that were stored to last come
 * first, at most max_lines of them; false: there were more. */
bool shadow_each_doubtful(const struct shadow *s, size_t max_lines,
			  void (*f)(uint64_t addr, uint64_t mask, void *arg), void *arg);

/* Calls f for lines with bytes that were stored to, as above; the latest max_lines of them. */
void shadow_each_stored(const struct shadow *s, size_t max_lines,
			void (*f)(uint64_t addr, uint64_t mask, void *arg), void *arg);

bool shadow_has_blocks(const struct shadow *s); /* an allocator told of some, so far */
/* The block that holds this byte, if nothing was stored to it since the block was handed out; NULL:
 * it is initialised, or in no block. */
const struct shadow_block *shadow_uninitialised(const struct shadow *s, uint64_t addr);
/* Calls f for lines with such bytes, of blocks that were handed out since then, those of the latest
 * first, at most max_lines of them. */
void shadow_each_uninitialised(struct shadow *s, uint64_t since_seq, size_t max_lines,
			       void (*f)(uint64_t addr, uint64_t mask, void *arg), void *arg);

#endif
