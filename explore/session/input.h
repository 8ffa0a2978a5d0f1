/* The parts that an input is made of, and how each gets to the program: files, standard input,
 * arguments, environment, a connection. All parts together are one row of bytes. */
#ifndef EXPLORE_SESSION_INPUT_H
#define EXPLORE_SESSION_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/notes.h"
#include "util/error.h"
#include "util/vec.h"

enum part_kind {
	PART_AT,   /* the file that @@ stands for */
	PART_FILE, /* one with a name of its own */
	PART_STDIN,
	PART_ARG,
	PART_ENV,
	PART_SOCKET,
	PART_MEMORY, /* what PMEND_SYMBOLIC() of pmend.h names */
};

struct part {
	enum part_kind kind;
	char *what;      /* as given, without the length; owned */
	uint64_t number; /* argument or port */
	size_t index, len_bytes;
	bool has_len; /* it was given */
	char *path;   /* of a file with a name of its own */
	char *kept;   /* where the user's file of that name is meanwhile; NULL: there was none */
};

struct parts {
	VEC(struct part) list;
	size_t len_bytes; /* of all */
	uint8_t *initial; /* len_bytes: what the command line and the environment say, else zeros */
};

/* All parts are there: gives each its length and its place, and moves files of the user's aside.
 * target is the program's command line. longest_seed: length of the longest one, 0 if there are
 * none. */
int parts_begin(struct parts *p, char **target, size_t longest_seed, struct error *err);
void parts_end(struct parts *p, const struct notes *notes); /* puts the user's files back */

/* What a run needs, made for this input; to be freed with parts_run_release(). */
struct parts_run {
	char **argv, **env;
	char *stdin_path;     /* NULL: none */
	uint16_t port;        /* 0: none */
	const uint8_t *bytes; /* to send */
	size_t len_bytes;
};
/* folder: for the files that are ours. -1 if they cannot be written; it is to be released
 * nevertheless. */
int parts_run_init(struct parts_run *r, const struct parts *p, const uint8_t *input, char **target,
		   char **env, const char *folder, struct error *err);
void parts_run_release(struct parts_run *r);
/* Options of the tracer that tell it where the input comes in. malloc'd. */
char *part_tracer_option(const struct part *p, const char *folder);

char *part_text(const uint8_t *bytes, size_t n); /* up to the first 0; malloc'd */

#endif
