/* How a server is recorded: what tells that it is ready, what its client does then, and how it is
 * ended. The client is a program of its own, which is not recorded. */
#ifndef RECORD_RECIPE_H
#define RECORD_RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"
#include "util/values.h"

#define RECIPE_SECONDS 60u

struct recipe {             /* as the user said it */
	const char *client; /* a command line; NULL: there is no recipe */
	/* Texts that the server prints, and TCP ports; it is ready when all are there. None: it
	 * listens somewhere. */
	struct word_list ready;
	const char *stop; /* a signal or a command line; NULL: SIGTERM */
	uint32_t seconds; /* to get ready, and to end; 0: RECIPE_SECONDS */
};

/* -1 if it cannot be followed. target: the program's words; NULL: not known. */
int recipe_check(const struct recipe *r, char *const *target, struct error *err);
/* -1 if a program of it is not there. */
int recipe_find_programs(const struct recipe *r, struct error *err);
/* The words of a command line that say the same: option, value, … They are borrowed. */
void recipe_words(const struct recipe *r, struct word_list *words);

/* A recipe that is followed. The caller runs the server, hands on what it prints, and steps until
 * all processes of the server have ended. */
struct recipe_run;

/* root: descendants of this process are the server. pool, dir: what {pool}
 * and {dir} stand for, or NULL. */
struct recipe_run *recipe_begin(const struct recipe *r, pid_t root, const char *pool,
				const char *dir);
void recipe_hear(struct recipe_run *r, const char *text, size_t len_bytes);
/* A signal that the server is to get now; 0: none. is_over: its first process has ended; is_gone:
 * all have. */
int recipe_step(struct recipe_run *r, bool is_over, bool is_gone);
/* The caller waits for all children, and one of them was ours. */
bool recipe_child_ended(struct recipe_run *r, pid_t pid, int wait_status);
bool recipe_is_child(const struct recipe_run *r, pid_t pid);
/* The server is ended for another reason: its client ends, too, and nothing that happens from now
 * on is a failure of the recipe. */
void recipe_cut(struct recipe_run *r);

/* The server died of the signal that it was to end by: it ended well. */
bool recipe_has_ended(const struct recipe_run *r, int wait_status);
/* It failed by itself, while it served. */
bool recipe_blames_server(const struct recipe_run *r, int wait_status);
/* Why the recipe could not be followed, in words; NULL: it was. */
const char *recipe_failure(const struct recipe_run *r);
/* What the client, or the command that ends the server, printed last. */
const char *recipe_said(const struct recipe_run *r, size_t *len_bytes);
void recipe_end(struct recipe_run *r); /* ends what of it still runs; NULL is allowed */

#endif
