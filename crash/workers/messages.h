/* Messages of a worker to its parent. A message is its kind, followed by the fields listed here;
 * findings/findings.h sends the structs. */
#ifndef CRASH_WORKERS_MESSAGES_H
#define CRASH_WORKERS_MESSAGES_H

#include "crash/findings/findings.h"

enum worker_message {
	/* the worker's number of a bug, and the bug: when it is found, and again when it is seen at
	 * an earlier failure point */
	MESSAGE_BUG = 1,
	/* for each bug, in the order of these numbers: how often it was seen, and how recovery
	 * ended then */
	MESSAGE_COUNTS,
	MESSAGE_FIRST_CRASH, /* a state whose recovery writes */
	MESSAGE_RACE,
	MESSAGE_RACE_TURN,    /* the conclusions about races in one turn */
	MESSAGE_READS,        /* what recovery read and cut in all runs */
	MESSAGE_CLEAN_OUTPUT, /* hash and shapes of what recovery printed with nothing lost */
	MESSAGE_OUTPUT_DOUBT, /* another output: hash, failure point, state */
	/* with representative testing: a stop that had its first runs, one that is done, a variant
	 * that failed */
	MESSAGE_STOP_BEGUN,
	MESSAGE_STOP_DONE,
	MESSAGE_VARIANT_FAILED,
	MESSAGE_END,   /* sums: states seen, all states, why whole images, why impossible */
	MESSAGE_ERROR, /* text of an error */
	MESSAGES
};

/* Begins a message, in the worker. Sending it releases it; if the parent is gone, sending ends the
 * process. */
struct wire worker_message_begin(enum worker_message kind);
void worker_message_send(int fd, struct wire *m);

/* Calls found() with the bugs that a worker sent since *at, while it may still work. */
void worker_messages_peek(int fd, uint64_t *at, void (*found)(const struct crash_bug *b, void *arg),
			  void *arg);

/* Reads a worker's messages until its end, in the parent, and adds them to the result. -1: the
 * worker failed. */
int worker_messages_read(int fd, struct crash_result *r, struct error *err);

#endif
