/* What the parts of import.c share. */
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
	uint64_t record_line, record_byte; /* where the record begins */
	/* the record, or the beginning of a line; NUL-terminated */
	VEC(char) text;
	int end;       /* what ended it: '|', '\n' or EOF */
	long pid;      /* of the log's lines, -1 if they have no prefix */
	char *command; /* as the preamble tells, NULL if there is none */
	struct writer *w;
	struct import_map map;
	struct map frames; /* code addresses whose names are in the trace */
	struct import_result *result;
	struct error *err;
	bool is_stopped;
};

/* Where an event happened; zero: unknown. */
struct import_stack {
	uint32_t node;
	uint64_t pc;
};

/* ---- import_text.c ---- */

int import_bad(struct import *im, const char *problem); /* -1, with the record and its place */
int import_text_start(struct import *im); /* a new text, up to the next '|', newline or end */
int import_text_join(struct import *im);  /* a '|' was part of the text, not its end */
void import_skip_line(struct import *im);

/* ---- import_frames.c ---- */

/* The frames of a store, innermost first: as site and chain of callers. */
int import_stack_take(struct import *im, const char *p, struct import_stack *stack);
bool import_stack_is_whole(const char *text); /* nothing of its last frame is missing */

/* ---- import_emit.c ---- */

void import_emit(struct import *im, enum pmt_kind kind, uint32_t size_bytes,
		 struct import_stack stack, struct writer_event ev);
void import_emit_text(struct import *im, enum pmt_kind kind, const char *text);
void import_emit_meta(struct import *im, const char *key, const char *value);

/* ---- import_records.c ---- */

int import_record(struct import *im); /* the text */

#endif
