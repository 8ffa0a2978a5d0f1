/* A shadow of persistent memory, as in XFDetector. It has for each byte: whether its last store is
 * durable (the persistence state), when and where it was last stored and last changed, and whether
 * it is consistent according to its commit variable. Pure: the caller passes the events of a trace.
 * It works byte by byte; memory grows with the lines that were ever stored to.
 *
 * Which stores an event makes durable is asked of a model of the same events, which is one event
 * behind.
 *
 * Time is the number of an event. XFDetector's timestamps, one per ordering point, cannot tell
 * stores of one epoch apart; these can. */
#ifndef CRASH_SHADOW_SHADOW_H
#define CRASH_SHADOW_SHADOW_H

#include "crash/shadow/commits.h"

enum shadow_state {
	SHADOW_UNMODIFIED, /* never stored to */
	SHADOW_MODIFIED,
	/* its write-back waits for a fence of the thread that started it */
	SHADOW_PENDING,
	SHADOW_PERSISTED,
};

struct shadow_write {
	uint64_t seq; /* 0: no store */
	const struct trace_site *site;
	bool is_trusted; /* not to be judged */
	bool is_in_tx;   /* in a transaction, which commits by itself */
};

struct shadow_byte {
	enum shadow_state state;
	struct shadow_write last;    /* the last store */
	struct shadow_write changed; /* the last store that changed the value */
	bool is_stored_again;        /* the last store is not the first one */
};

/* Memory that an allocator gave to the program without initialising it. */
struct shadow_block {
	uint64_t addr, len_bytes;
	struct shadow_write given;
};

struct shadow;

/* Makes a shadow. m: the model; it gets each event after shadow_step(). image: the content before
 * the first store; NULL: zeros. commits: sealed; the shadow owns it then. */
struct shadow *shadow_new(const struct model *m, const struct model_image *image,
			  struct commits *commits);
void shadow_free(struct shadow *s);
const struct commits *shadow_commits(const struct shadow *s);
/* flags for the stores of an event; struct shadow_write explains them */
enum shadow_flags { SHADOW_TRUSTED = 1, SHADOW_IN_TX = 2 };
void shadow_step(struct shadow *s, const struct trace_event *ev, unsigned flags);

struct shadow_byte shadow_byte(const struct shadow *s, uint64_t addr);
/* Is each byte unmodified or persisted? */
bool shadow_is_persisted(const struct shadow *s, uint64_t addr, uint64_t len_bytes);

/* Calls f for lines with doubtful bytes: a crash now can leave a value of their commit variable
 * with which they are inconsistent. Bit i of mask is the byte addr + i. The lines stored to last
 * come first, at most max_lines; false: there were more. */
bool shadow_each_doubtful(const struct shadow *s, size_t max_lines,
			  void (*f)(uint64_t addr, uint64_t mask, void *arg), void *arg);

/* Calls f for lines with bytes that were stored to, with the mask of these bytes; for the latest
 * max_lines lines. */
void shadow_each_stored(const struct shadow *s, size_t max_lines,
			void (*f)(uint64_t addr, uint64_t mask, void *arg), void *arg);

bool shadow_has_blocks(const struct shadow *s); /* has an allocator announced any blocks so far? */
/* Gives the block that contains this byte, if the byte was not stored to since the block was
 * allocated. NULL: the byte is initialised, or in no block. */
const struct shadow_block *shadow_uninitialised(const struct shadow *s, uint64_t addr);
/* Calls f for lines with uninitialised bytes, of blocks that were allocated since since_seq, the
 * latest blocks first, at most max_lines. */
void shadow_each_uninitialised(struct shadow *s, uint64_t since_seq, size_t max_lines,
			       void (*f)(uint64_t addr, uint64_t mask, void *arg), void *arg);

#endif
