/* Describes the parts of an input, and gives them to the program: as files, standard input,
 * arguments, environment, or through a connection. The input is the bytes of all parts, one after
 * the other. */
#ifndef EXPLORE_SESSION_INPUT_H
#define EXPLORE_SESSION_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/notes.h"
#include "util/error.h"
#include "util/vec.h"

enum part_kind {
	PART_AT,   /* the file for which @@ stands */
	PART_FILE, /* a file with a name of its own */
	PART_STDIN,
	PART_ARG,
	PART_ENV,
	PART_SOCKET,
	PART_MEMORY, /* memory that PMEND_SYMBOLIC() of pmend.h names */
};

struct part {
	enum part_kind kind;
	char *what;      /* as given, without the length; owned */
	uint64_t number; /* of the argument, or the port */
	size_t index, len_bytes;
	bool has_len; /* the user gave the length */
	char *path;   /* of a PART_FILE */
	char *kept;   /* where the user's file of that name is meanwhile; NULL if there was none */
};

struct parts {
	VEC(struct part) list;
	size_t len_bytes; /* of all parts */
	uint8_t *initial; /* len_bytes: what the command line and environment contain, else zeros */
};

/* Gives each part its length and index, and moves the user's files aside; call it when all parts
 * are added. target is the command line; longest_seed may be 0. */
int parts_begin(struct parts *p, char **target, size_t longest_seed, struct error *err);
void parts_end(struct parts *p, const struct notes *notes); /* puts the user's files back */

/* What a run needs for one input. Release it with parts_run_release(). */
struct parts_run {
	char **argv, **env;
	char *stdin_path;     /* NULL if not used */
	uint16_t port;        /* 0 if not used */
	const uint8_t *bytes; /* bytes to send to the port */
	size_t len_bytes;
};
/* Prepares a run with this input: writes its files to `folder`. -1 if that fails; release the run
 * anyway. */
int parts_run_init(struct parts_run *r, const struct parts *p, const uint8_t *input, char **target,
		   char **env, const char *folder, struct error *err);
void parts_run_release(struct parts_run *r);
/* Makes the tracer's option that says where the part's bytes enter the program. free() it. */
char *part_tracer_option(const struct part *p, const char *folder);

char *part_text(const uint8_t *bytes, size_t n); /* the text up to the first 0; free() it */

#endif
