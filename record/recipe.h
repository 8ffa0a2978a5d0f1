/* A recipe says how a server is recorded: how pmend knows that the server is ready, what the client
 * does then, and how the server is stopped. The client is a separate program, which is not
 * recorded. */
#ifndef RECORD_RECIPE_H
#define RECORD_RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "util/error.h"
#include "util/values.h"

#define RECIPE_SECONDS 60u

struct recipe {             /* the user's words */
	const char *client; /* a command line; NULL: there is no recipe */
	/* Texts that the server prints, and TCP ports; it is ready when all are there. Empty: it is
	 * ready when it listens somewhere. */
	struct word_list ready;
	const char *stop; /* a signal or a command line; NULL: SIGTERM */
	uint32_t seconds; /* to become ready, and to end; 0: RECIPE_SECONDS */
};

/* Checks the recipe; -1 if it cannot be followed. target: the program's command line; NULL:
 * unknown. */
int recipe_check(const struct recipe *r, char *const *target, struct error *err);
/* Searches the programs that the recipe runs. -1 if one of them does not exist. */
int recipe_find_programs(const struct recipe *r, struct error *err);
/* Appends the options that describe the recipe: option, value, … The words are borrowed. */
void recipe_words(const struct recipe *r, struct word_list *words);

/* A recipe in progress. The caller runs the server, passes on its output, and calls recipe_step()
 * until all processes of the server have ended. */
struct recipe_run;

/* Begins a recipe. root: its descendants are the server. pool, dir: paths for {pool} and {dir}, or
 * NULL. */
struct recipe_run *recipe_begin(const struct recipe *r, pid_t root, const char *pool,
				const char *dir);
void recipe_hear(struct recipe_run *r, const char *text, size_t len_bytes);
/* Continues with the recipe. Returns a signal that the server must get now; 0: none. is_over: the
 * server's first process has ended; is_gone: all its processes have. */
int recipe_step(struct recipe_run *r, bool is_over, bool is_gone);
/* Notes a child that ended, because the caller waits for all children. True if it was the
 * recipe's. */
bool recipe_child_ended(struct recipe_run *r, pid_t pid, int wait_status);
bool recipe_is_child(const struct recipe_run *r, pid_t pid);
/* Ends the client, because the server is stopped for another reason; nothing that happens from now
 * on is a failure of the recipe. */
void recipe_cut(struct recipe_run *r);

/* Did the server die of the signal that was meant to stop it? Then it ended well. */
bool recipe_has_ended(const struct recipe_run *r, int wait_status);
/* Did the server fail by itself while it served? */
bool recipe_blames_server(const struct recipe_run *r, int wait_status);
/* Says why the recipe could not be followed; NULL: it was. */
const char *recipe_failure(const struct recipe_run *r);
/* Gives the last output of the client, or of the command that stops the server. */
const char *recipe_said(const struct recipe_run *r, size_t *len_bytes);
void recipe_end(struct recipe_run *r); /* stops what is still running; NULL is allowed */

#endif
