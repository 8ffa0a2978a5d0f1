/* The parts that an input is made of, and how each gets to the program: files, standard input, arguments, environment, a connection. All parts together
 * are one row of bytes. */
#ifndef EXPLORE_SESSION_INPUT_H
#define EXPLORE_SESSION_INPUT_H

#include "cmd/cmd.h"
#include "explore/session/bounded_run.h"
#include "util/vec.h"

#define EXPLORE_DEFAULT_BYTES 64

enum part_kind {
	PART_AT,     /* the file that @@ stands for */
	PART_FILE,   /* one with a name of its own */
	PART_STDIN,
	PART_ARG,
	PART_ENV,
	PART_SOCKET,
	PART_MEMORY, /* what PMEND_SYMBOLIC() of pmend.h names */
};

struct part {
	enum part_kind kind;
	const char *what; /* as given, without the length */
	uint64_t number;  /* argument or port */
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

struct part_options { /* as on the command line */
	struct word_list files, args, envs;
	const char *stdin_len, *socket, *memory_len;
};

/* Dies if an option makes no sense. target is the program's command line. longest_seed: length of the longest one, 0 if there are none. is_parallel: several
 * runs at a time. */
void parts_init(struct parts *p, const struct command *c, const struct part_options *o, char **target, size_t longest_seed, bool is_parallel);
void parts_release(struct parts *p); /* puts the user's files back */

/* What a run needs, made for this input; to be freed with parts_run_release(). */
struct parts_run {
	char **argv, **env;
	char *stdin_path; /* NULL: none */
	uint16_t port;		/* 0: none */
	const uint8_t *bytes;	/* to send */
	size_t len_bytes;
};
/* folder: for the files that are ours. */
void parts_run_init(struct parts_run *r, const struct parts *p, const uint8_t *input, char **target, char **env, const char *folder);
void parts_run_release(struct parts_run *r);
/* Options of the tracer that tell it where the input comes in. malloc'd. */
char *part_tracer_option(const struct part *p, const char *folder);
char *part_file(const struct part *p, const char *folder); /* NULL: none; malloc'd */

/* A command line that a shell would run in the same way; file: where the input is kept. malloc'd. */
char *parts_rerun(const struct parts *p, const uint8_t *input, char **target, const char *file);

#endif
