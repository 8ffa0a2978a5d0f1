/* What the trace shows around a bug: the events that matter, in order, and the bytes of the cache
 * lines involved. Limited: tens of events, a few lines. Who found the bug fills it from the trace;
 * docs/report.md fixes its JSON form. */
#ifndef REPORT_EVIDENCE_H
#define REPORT_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVIDENCE_ROW_BYTES 64u   /* of a memory row, whatever a platform's lines are */
#define EVIDENCE_ROWS_MAX 16u    /* of one timeline */
#define EVIDENCE_POSSIBLE_MAX 6u /* contents of a row that are listed */

/* One mark of the timeline. Strings are NULL and numbers 0 where they do not apply. */
struct evidence_event {
	uint64_t seq;      /* pmend show --range SEQ */
	uint64_t skipped;  /* events left out between the mark before and this one */
	const char *kind;  /* "store", "clwb": as pmend show has them */
	const char *role;  /* of the bug's location that this is: "lost", "survived" */
	const char *what;  /* the name of an operation, what was printed, what was stored */
	const char *field; /* "log.entry[3].text", of a store */
	/* of each row after this event: d durable, x dirty, p being written back */
	const char *states;
	const char *function, *file;
	uint32_t line;
	uint32_t process, thread;
	uint32_t row;    /* that it touches first, from 1 */
	uint64_t offset; /* in the file, of a store or flush */
	uint32_t size_bytes;
};

struct evidence_field {
	uint32_t offset, size_bytes; /* in the row */
	const char *name;
};

/* The bytes of one row. Hexadecimal digits, two a byte; NULL: not known. */
struct evidence_row {
	const char *file;
	uint64_t offset;
	const char *durable; /* if every store that is not guaranteed to be durable is lost */
	const char *newest;  /* as the program sees it */
	const char *found;   /* in the crash state that fails */
	const char *possible[EVIDENCE_POSSIBLE_MAX];
	size_t npossible;                    /* that are listed */
	uint64_t nall;                       /* that there are, at least */
	const struct evidence_field *fields; /* by offset */
	size_t nfields;
};

struct evidence {
	/* the file of the input that the program had, if inputs were explored; NULL: there was only
	 * one */
	const char *input;
	const struct evidence_event *events;
	size_t nevents;
	struct evidence_row rows[EVIDENCE_ROWS_MAX];
	size_t nrows;
	uint64_t crash_seq; /* the crash comes before this event; 0: none is shown */
	/* events of the trace between the last mark and the crash, or the end of what was looked
	 * at */
	uint64_t after;
};

struct report;
struct arena;

/* Of a finished report. Copies it. */
void report_set_evidence(struct report *r, size_t bug, const struct evidence *e);
/* NULL stays NULL */
const struct evidence *evidence_copy(struct arena *a, const struct evidence *e);

#endif
