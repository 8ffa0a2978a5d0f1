/* Declares the parts of `pmend show`: what each argument of an event means, and the three ways to
 * print an event. */
#ifndef CMD_SHOW_SHOW_H
#define CMD_SHOW_SHOW_H

#include <stdio.h>

#include "source/locate.h"
#include "trace/trace.h"
#include "util/vec.h"

enum arg_form {
	ARG_NONE,
	ARG_NUMBER,
	ARG_HEX,
	ARG_FILE,
	ARG_ADDR,
	ARG_OPTION /* of dmb and dsb */,
	ARG_ORDER /* enum pmt_order */
};

struct arg_name {
	const char *name;
	enum arg_form form;
};
extern const struct arg_name arg_names[PMT_NKINDS][PMT_MAX_ARGS];

struct show {
	struct trace *t;
	struct locator *locator;
	FILE *out;
	bool stacks;
	bool many_processes;
	VEC(char *) labels; /* by file number: its name in the text */
};

/* Print one event as a line: show_text() as text, show_json() as JSON; the stack follows if
 * s->stacks. */
void show_text(struct show *s, const struct trace_event *ev);
void show_json(struct show *s, const struct trace_event *ev);

/* A part of a trace as one HTML page: an operation, the events at a source line, or the events from
 * first_seq to last_seq. */
struct show_page {
	const char *path, *output;
	const char *operation, *at;
	uint64_t first_seq, last_seq;
};
/* Prints a part of a trace as an HTML page. -1: there is no such part, or the trace cannot be
 * read. */
int show_page(FILE *out, const struct show_page *p, struct error *err);

/* Lists what a bundle contains; is_verbose: each file, too. */
struct bundle;
void show_bundle(FILE *out, const struct bundle *b, bool is_verbose);

struct summary;
struct summary *summary_new(void);
void summary_free(struct summary *m);
void summary_add(struct summary *m, const struct trace_event *ev);
void summary_text(const struct summary *m, struct show *s);
void summary_json(const struct summary *m, struct show *s);

/* Prints a number fast: stdio's formatting is too slow for millions of lines. */
void put_number(FILE *f, uint64_t n, int width);
void put_hex(FILE *f, uint64_t n);
void put_bytes(FILE *f, const uint8_t *p, size_t n);

/* Are the bytes UTF-8 without control characters? */
bool is_text(const uint8_t *p, size_t n);
/* Gives the length of the valid UTF-8 sequence at p; 0 if there is none. */
size_t utf8_len(const uint8_t *p, size_t n);

/* Gives the number of the file that an event is about; 0 if there is none. */
uint32_t event_file(const struct trace_event *ev);

#endif
