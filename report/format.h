/* The formats in which a report is written. A new one is a file and a row in format.c. */
#ifndef REPORT_FORMAT_H
#define REPORT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct report;

struct report_options {
	bool colour;  /* text: use colours (ANSI escape sequences) */
	bool quiet;   /* text: print only title lines and why the analysis is incomplete */
	bool verbose; /* text: print all frames, all kept output, all differences */
	/* html: a unified diff from `pmend fix` to show with the findings; NULL: none */
	const char *patch;
	/* absolute path; paths below it are shown relative to it. NULL: show paths as they are */
	const char *cwd;
};

/* Writes the whole report. The caller checks for errors with ferror() and fflush(). */
typedef void report_render(FILE *f, const struct report *r, const struct report_options *o);

struct report_format {
	const char *name, *help;
	report_render *render;
	const char *extension; /* the ending of its file names; NULL: the format's name */
};

/* All formats; a row without name ends the table. The first is the default. */
extern const struct report_format report_formats[];
const struct report_format *report_format_find(const char *name); /* NULL if there is none */
/* Gives the format that belongs to the ending of a file name, such as .json; NULL: none, or path is
 * NULL. */
const char *report_format_of(const char *path);

/* Writes a page about a part of a trace, which `evidence` describes. */
struct evidence;
struct trace_page {
	const char *trace, *region; /* the trace file, and which part of it: "events 10 to 20" */
	const char *platform, *command;
	/* relative source paths are relative to this folder; NULL: to the current one */
	const char *folder;
	const char *cwd;
	uint64_t events; /* number of events read; 0: unknown */
};
void trace_page_html(FILE *f, const struct evidence *e, const struct trace_page *t);

report_render report_text, report_json, report_sarif, report_html, report_junit;

/* Parts of the text report, for formats that quote it: one bug, and what stands below all bugs. */
struct bug;
void report_text_bug(FILE *f, const struct report *r, const struct report_options *o,
		     const struct bug *b);
report_render report_text_summary;

#endif
