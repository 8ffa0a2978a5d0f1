/* Begins and ends the commands that make a report: its options, filters and formats, and the exit
 * status. */
#ifndef CMD_REPORTING_H
#define CMD_REPORTING_H

#include "cmd/cmd.h"
#include "report/bug.h"
#include "report/outcome.h"

struct reporting {
	const char *format, *output, *suppress, *baseline;
	const char *severity_name;
	bool gen_suppressions, quiet, verbose, shows_libraries;
	struct word_list fail_on_words;
	char **target; /* the program, for a report about a failure; NULL: there is none */
	/* only a part of its execution was judged */
	bool has_program_failed;
	/* for one of several tests: JSON always goes to this file, and evidence is left out if no
	 * format shows it */
	int part_fd;
	bool is_part, is_lean;
	/* private */
	const struct project *project; /* NULL: no file was read */
	struct report_fail_on fail_on;
	enum bug_severity severity; /* the lowest severity that is shown */
	struct suppressions *suppressions;
	struct baseline *known;
};

/* Rows of an option table. */
#define REPORTING_OPTIONS(r) \
	{ "format", \
	  0, \
	  "FORMAT", \
	  "text, json, sarif, html or junit (default: the extension of the -o FILE, else text)", \
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

/* For the commands with --fail-on. */
#define FAIL_ON_OPTION(r) \
	{ \
		"fail-on", 0, "WHAT", \
			"exit with 1 for this, too: performance, porting, warning, libraries or incomplete (correctness always counts); may be repeated", \
			OPTION_LIST, &(r)->fail_on_words \
	}

/* Does the format show what the trace has around each bug? */
bool reporting_shows_evidence(const struct reporting *r);
/* Prints a report of several tests, which were filtered one by one. Frees it. */
void reporting_render(struct reporting *r, struct report *report);

/* Parses the words of --fail-on. Dies if one is unknown. */
void reporting_set_fail_on(const struct command *c, struct report_fail_on *on,
			   const struct word_list *words);

/* Dies if an option about the report is wrong: before a long run, not after it. */
void reporting_begin(const struct command *c, struct reporting *r);
/* Adds what the trace has around each bug (account/evidence), if the format shows it. To be called
 * after report_finish(). */
struct libraries;
void reporting_add_evidence(const struct reporting *r, struct report *report, const char *trace,
			    const struct libraries *libraries);
/* Prints a failure in the formats that show failures (junit), because there will be no report.
 * die() calls it by itself. */
void reporting_fail(const char *text, void *reporting);
/* Gives the enum cmd_status for the report's findings. */
int reporting_status(const struct report *report);
/* Filters, prints and frees the report; returns enum cmd_status, with --fail-on. is_whole: finding
 * nothing means that there is nothing. */
int reporting_end(struct reporting *r, struct report *report, bool is_whole);

#endif
