/* What the files that import pmemcheck logs share: the state of an import, and functions that
 * several of these files call. */
#ifndef TRACE_IMPORT_INTERNAL_H
#define TRACE_IMPORT_INTERNAL_H

#include <stdio.h>

#include "trace/import.h"
#include "trace/import_map.h"
#include "trace/writer.h"
#include "util/map.h"

struct import {
	FILE *in;
	const char *path;
	uint64_t line, byte;               /* of the next character */
	uint64_t record_line, record_byte; /* where the current record begins */
	/* the current record, or the beginning of a line; NUL-terminated */
	VEC(char) text;
	int end;       /* the character that ended it: '|', '\n' or EOF */
	long pid;      /* the process number in the lines' prefix; -1 if they have none */
	char *command; /* from the preamble; NULL if it has none */
	struct writer *w;
	struct import_map map;
	struct map frames; /* code addresses whose names are already in the trace */
	struct import_result *result;
	struct error *err;
	bool is_stopped;
};

/* Where an event happened: the instruction and the node of its callers. Zero is unknown. */
struct import_stack {
	uint32_t node;
	uint64_t pc;
};

/* ---- import_text.c ---- */

/* Fills err with the problem, the record and its place in the log. Returns -1. */
int import_bad(struct import *im, const char *problem);
int import_text_start(struct import *im); /* reads the text up to the next '|', newline or end */
/* Joins the text with what follows it, up to the next '|'. Called when the '|' at the end of the
 * text turned out to be part of a path or name. */
int import_text_join(struct import *im);
void import_skip_line(struct import *im);

/* ---- import_frames.c ---- */

/* Reads the frames of a store, innermost first, and defines their nodes in the trace. */
int import_stack_take(struct import *im, const char *p, struct import_stack *stack);
bool import_stack_is_whole(const char *text); /* false if its last frame is cut off */

/* ---- import_emit.c ---- */

void import_emit(struct import *im, enum pmt_kind kind, uint32_t size_bytes,
		 struct import_stack stack, struct writer_event ev);
void import_emit_text(struct import *im, enum pmt_kind kind, const char *text);
void import_emit_meta(struct import *im, const char *key, const char *value);

/* ---- import_records.c ---- */

int import_record(struct import *im); /* turns the current text into events */

#endif
