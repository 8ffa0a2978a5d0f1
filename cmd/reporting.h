/* What all commands that end with a report share: the options about it, filters, renderings, the exit status. */
#ifndef CMD_REPORTING_H
#define CMD_REPORTING_H

#include "cmd/cmd.h"
#include "report/bug.h"

struct reporting {
	const char *format, *output, *suppress, *baseline;
	const char *severity_name;
	bool gen_suppressions, quiet, verbose, shows_libraries;
	struct word_list fail_on;
	/* inside */
	enum bug_severity severity; /* the least that is shown */
	struct suppressions *suppressions;
	struct baseline *known;
};

/* Rows of an option table. */
#define REPORTING_OPTIONS(r) \
	{ "format", \
	  0, \
	  "FORMAT", \
	  "text, json, sarif or html (default: the extension of the -o FILE, else text)", \
	  OPTION_STRING, \
	  &(r)->format }, \
		{ "output", 'o', "FILE", "write the report to FILE", OPTION_STRING, &(r)->output }, \
		{ "suppress",    0, "FILE", "hide the bugs that FILE describes", OPTION_STRING, \
		  &(r)->suppress }, \
		{ "gen-suppressions", \
		  0, \
		  NULL, \
		  "after the report, print a block for --suppress for each bug", \
		  OPTION_FLAG, \
		  &(r)->gen_suppressions }, \
		{ "baseline",    0, \
		  "REPORT.json", "show only bugs that are not in this earlier JSON report", \
		  OPTION_STRING, &(r)->baseline }, \
		{ "severity", \
		  0, \
		  "LEVEL", \
		  "show only findings of this level or worse: correctness, performance, porting or warning (default: all)", \
		  OPTION_STRING, \
		  &(r)->severity_name }, \
		{ "libraries", 0, \
		  NULL,        "also show findings inside PMDK's libraries", \
		  OPTION_FLAG, &(r)->shows_libraries }, \
		{ "verbose",   'v', \
		  NULL,        "print whole stacks with library frames, and all recorded output", \
		  OPTION_FLAG, &(r)->verbose }, \
	{ \
		"quiet", 'q', NULL, "print one line per bug, and why the analysis is incomplete", \
			OPTION_FLAG, &(r)->quiet \
	}

/* For the commands whose exit status can be asked for more. */
#define FAIL_ON_OPTION(r) \
	{ \
		"fail-on", 0, "WHAT", \
			"exit with 1 for this, too: incomplete, performance, porting, warning or libraries; may be repeated", \
			OPTION_LIST, &(r)->fail_on \
	}

/* Dies if something about the options is wrong: before a long run, not after it. */
void reporting_begin(const struct command *c, struct reporting *r);
/* What the trace holds around each bug (session/evidence), if the rendering shows it. After report_finish(). */
struct libraries;
void reporting_add_evidence(const struct reporting *r, struct report *report, const char *trace,
			    const struct libraries *libraries);
/* Filters, renders, frees the report; returns enum cmd_status, as --fail-on wants it. is_whole: finding nothing means something. */
int reporting_end(struct reporting *r, struct report *report, bool is_whole);

#endif
