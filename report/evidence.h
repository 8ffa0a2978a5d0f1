/* Declares what the trace shows around a bug: the events that matter, in order, and the bytes of
 * the cache lines involved. There are tens of events and a few lines at most. The analysis that
 * found the bug fills it from the trace; docs/report.md documents it as JSON. */
#ifndef REPORT_EVIDENCE_H
#define REPORT_EVIDENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EVIDENCE_ROW_BYTES 64u   /* bytes per memory row, also on platforms with other line sizes */
#define EVIDENCE_ROWS_MAX 16u    /* per timeline */
#define EVIDENCE_POSSIBLE_MAX 6u /* per row: how many of its possible contents are listed */

/* One event of the timeline. What does not apply is NULL or 0. */
struct evidence_event {
	uint64_t seq;     /* number of the event, as `pmend show --range` takes it */
	uint64_t skipped; /* how many events are left out since the previous one in the list */
	const char *kind; /* "store", "clwb" and so on: the names of `pmend show` */
	/* the role of the bug's location that this event is: "lost", "survived" */
	const char *role;
	const char *what;  /* the operation's name, the printed text, or the stored value */
	const char *field; /* for a store: the field, "log.entry[3].text" */
	/* one letter per row, its state after this event: d durable, x dirty, p being written
	 * back */
	const char *states;
	const char *function, *file;
	uint32_t line;
	uint32_t process, thread;
	uint32_t row;    /* the first row that it touches, from 1 */
	uint64_t offset; /* for a store or flush: byte offset in the file */
	uint32_t size_bytes;
};

struct evidence_field {
	uint32_t offset, size_bytes; /* in bytes, inside the row */
	const char *name;
};

/* The bytes of one row, two hexadecimal digits per byte. NULL: unknown. */
struct evidence_row {
	const char *file;
	uint64_t offset;
	const char *durable; /* if every store that may be lost is lost */
	const char *newest;  /* as the running program sees it */
	const char *found;   /* in the crash state that fails */
	const char *possible[EVIDENCE_POSSIBLE_MAX];
	size_t npossible;                    /* how many contents are listed */
	uint64_t nall;                       /* how many contents a crash can leave, at least */
	const struct evidence_field *fields; /* the struct fields in this row, by offset */
	size_t nfields;
};

struct evidence {
	/* file of the input that the program was run on; NULL: inputs were not explored */
	const char *input;
	const struct evidence_event *events;
	size_t nevents;
	struct evidence_row rows[EVIDENCE_ROWS_MAX];
	size_t nrows;
	uint64_t crash_seq; /* the crash comes before this event; 0: none is shown */
	/* how many events lie between the last listed event and the crash (or the end of the
	 * region) */
	uint64_t after;
};

struct report;
struct arena;

/* Gives a copy of the evidence to a bug of a finished report. */
void report_set_evidence(struct report *r, size_t bug, const struct evidence *e);
/* Copies evidence into an arena; NULL gives NULL. */
const struct evidence *evidence_copy(struct arena *a, const struct evidence *e);

#endif
