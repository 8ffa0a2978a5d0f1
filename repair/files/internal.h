/* What the files of repair/files/ share: the calls that write files and change names, and the place
 * of a sync. */
#ifndef REPAIR_FILES_INTERNAL_H
#define REPAIR_FILES_INTERNAL_H

#include "repair/durability/internal.h"
#include "repair/files/files.h"
#include "repair/idiom/idiom.h"

/* ---- calls.c: what calls of the C library do to files ---- */

enum file_act {
	ACT_WRITE = 1, /* changes a file's content or size */
	ACT_NAME = 2,  /* makes, changes or removes a name */
	ACT_CLOSE = 4, /* closes the file; of a stream, writes first */
	ACT_OTHER = 8, /* uses an open file in another way: reads, seeks, asks, syncs */
};

struct file_call {
	const char *name;
	unsigned act; /* of file_act; fclose() has two */
	/* which argument is the open file; for ACT_NAME the path, and -1 or the folder */
	int handle, folder;
	bool is_stream; /* the open file is a FILE */
};

/* NULL: the call is none of the C library that has to do with files. */
const struct file_call *file_call_of(const struct source_unit *u, const struct source_node *call);
/* Finds the call at a place of the report that does one of these acts; NULL: none, or several. */
const struct source_node *file_call_at(const struct fix *x, const struct repair_frame *at,
				       unsigned acts);

/* ---- place.c: where a sync goes ---- */

struct file_place {
	struct fix at; /* unit, file and function; `store` is the call, `stmt` what it follows */
	const struct repair_place *place; /* the stack, and which frame `at` is */
	size_t frame;
	/* what must not come before the sync; NULL: unknown */
	const struct repair_place *later;
	/* what the call is given: an open file, or a path */
	const struct source_node *handle;
	const struct file_call *of;     /* the call in which it ended */
	const struct source_node *last; /* the last call that is passed and writes to the file */
	bool is_before; /* the sync goes before the statement, which closes the file */
	/* the `if` that handles an error of the call; NULL: there is none */
	const struct source_node *handler;
	/* the value of the call is kept in this variable or member; NULL: in none */
	const char *variable;
	const struct source_use *check; /* the macro that tests the variable; NULL: none */
};

/* Finds the call at p that does one of the acts. -1 with a reason. */
int file_place_begin(struct repair *r, struct file_place *s, const struct repair_place *p,
		     const struct repair_place *later, unsigned acts, const char **why);
/* Moves on to the caller that gave the function its open file or path. False: the function has it
 * from nobody, closes it, or must sync it itself. */
bool file_place_outward(struct repair *r, struct file_place *s);
/* Decides where in the function the sync goes. -1 with a reason. */
int file_place_settle(struct repair *r, struct file_place *s, const char **why);
/* Asks whether the statement is left on an error only: it returns an error, jumps, or ends the
 * program. */
bool file_branch_fails(const struct file *f, const struct source_node *branch);
/* Asks whether this is the value of an error: negative, NULL, false, or an error's variable. */
bool file_is_error_value(const struct file *f, const struct source_node *value);

/* ---- folder.c: returns text for the folder of the path that the call is given; NULL with a
 * reason. ---- */
const char *file_folder_of(struct repair *r, const struct file_place *s, const char **why);
/* Returns text for the descriptor of the folder that the call itself is given, if the name is
 * surely one in that folder; NULL, perhaps with a reason. */
const char *file_folder_descriptor(struct repair *r, const struct file_place *s, const char **why);

/* ---- words.c: what is written ---- */

struct file_words {
	const char *line;        /* the code, without a semicolon */
	const char *block;       /* code with a block in braces, complete; NULL: `line` is all */
	const char *result_type; /* of a return statement that needs a temporary; NULL */
};
/* Writes the sync. file: what the way is given. -1 with a reason. */
int file_words_make(struct repair *r, const struct file_place *s, const struct file_way *w,
		    enum file_sync does, const char *file, struct file_words *out,
		    const char **why);

#endif
