/* The renderings of a report. Adding one is adding a file and a row in format.c. */
#ifndef REPORT_FORMAT_H
#define REPORT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct report;

struct report_options {
	bool colour;  /* text: escape sequences of ANSI terminals */
	bool quiet;   /* text: only the title lines, and what makes the analysis incomplete */
	bool verbose; /* text: all frames, all output that was kept, all differences */
	/* html: a unified diff from `pmend fix` to show with the findings; NULL: none */
	const char *patch;
	const char *cwd; /* absolute; paths below it are shown relative to it. NULL: as they are */
};

/* Writes all of it; whether that worked, ferror() and fflush() tell the caller. */
typedef void report_render(FILE *f, const struct report *r, const struct report_options *o);

struct report_format {
	const char *name, *help;
	report_render *render;
	const char *extension; /* of a file's name; NULL: the name */
};

/* Ends with a row without name; the first is the default. */
extern const struct report_format report_formats[];
const struct report_format *report_format_find(const char *name); /* NULL if there is none */
/* the name of what a file's name ends in, .json say; NULL: none, also for NULL */
const char *report_format_of(const char *path);

/* A page about a part of a trace, which is told as evidence. */
struct evidence;
struct trace_page {
	const char *trace, *region; /* the file, and which part of it: "events 10 to 20" */
	const char *platform, *command;
	const char *folder; /* relative source paths are meant from there; NULL: the current one */
	const char *cwd;
	uint64_t events; /* of the trace, as far as it was read; 0: not known */
};
void trace_page_html(FILE *f, const struct evidence *e, const struct trace_page *t);

report_render report_text, report_json, report_sarif, report_html, report_junit;

/* Parts of the text, for renderings that quote it: one bug, and what stands below all of them. */
struct bug;
void report_text_bug(FILE *f, const struct report *r, const struct report_options *o,
		     const struct bug *b);
report_render report_text_summary;

#endif
