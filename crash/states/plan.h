/* The result of a first pass over a trace: how large files get, where they were mapped, which
 * operations there were, which stores are never flushed. All later walks use it. */
#ifndef CRASH_STATES_PLAN_H
#define CRASH_STATES_PLAN_H

#include "crash/states/declared.h"
#include "model/cut.h"
#include "model/model.h"
#include "pmend_run.h"
#include "trace/trace.h"
#include "util/vec.h"
#include "util/wire.h"

/* An operation: PMEND_OP_BEGIN/END, or what lies between two acknowledgements (output). */
struct operation {
	uint64_t begin_seq, end_seq; /* UINT64_MAX: never ended */
	uint32_t stream, thread;
	const char *name; /* of the annotation; "" */
};

/* PMEND_COMMIT_VAR: var and var_bytes. PMEND_COMMIT_RANGE: var, addr and len_bytes. PM
 * addresses. */
struct plan_commit {
	uint64_t var, var_bytes;
	uint64_t addr, len_bytes;
	uint64_t seq; /* of the first such annotation; 0: the user says so, not the program */
};

/* FILE or CONTENT of a file that the program made, and mapped only when it was durable already,
 * with what it held. */
struct plan_late {
	uint64_t since; /* the last event before it was durable */
	struct trace_event ev;
};

struct plan {
	const char *path; /* of the trace */
	const struct platform *platform;
	/* read to its end: for names of files, symbols; who reads it again takes a cursor */
	struct trace *trace;
	VEC(uint64_t) sizes; /* by file number: the largest size ever */
	/* distinct ones, in order; file is the file's number */
	VEC(struct run_mapping) mappings;
	VEC(struct operation) operations;     /* by begin_seq */
	VEC(const struct trace_site *) sites; /* by id */
	/* by site: a library makes a pool there, which is one step; none: that is not known */
	VEC(bool) making;
	/* seq of stores that nothing wrote back until the end, sorted */
	VEC(uint64_t) never_persisted;
	/* plan_find_unkept(): seq of stores that were overwritten before they were durable,
	 * sorted */
	VEC(uint64_t) unkept;
	/* seq of stores that the program declared clean, or volatile by intent, sorted */
	VEC(uint64_t) declared;
	declared_list declared_bytes;    /* the same for each byte, also of other stores */
	VEC(struct plan_commit) commits; /* as annotated, distinct */
	struct arena arena;
	uint64_t nevents;
	uint64_t nold_bytes; /* that were there because of --old-bytes */
	/* those that tell initial content of files which the program did not make */
	VEC(struct trace_event) initial;
	uint64_t last_initial_seq;
	VEC(struct plan_late) late; /* by `since` */
	VEC(const char *) numbered; /* paths by file number, NULL: it has none */
	VEC(const char *) paths;    /* every path that a PM file has at some time, ends with NULL */
	VEC(uint64_t) outputs;      /* seq of acknowledgements: write and send to the outside */
	bool has_roi, has_annotated_operations;
	/* some acknowledgement carried several lines: they do not tell operations apart */
	bool is_output_bunched;
	bool is_exact;       /* the model never had to forget states */
	bool is_distrusting; /* PMDK's libraries are judged like other code */
	uint64_t ntrusted;   /* model_ntrusted() */
	enum cut_extent cut; /* not CUT_NONE: the end is a moment as any other */
	const struct trace_site
		*last_site; /* of an event; NULL: none has one, or it comes from an index */
};

/* Reads all of an open trace, which it takes over. is_distrusting: see model_distrust(). */
struct plan *plan_of_trace(struct trace *t, const struct platform *platform, bool is_distrusting);
/* A model of the trace's events, as the plan has it. */
struct model *plan_model(const struct plan *p, const struct model_image *image);
struct plan *plan_new(const char *path, const struct platform *platform, struct error *err);
/* What an earlier pass over the same trace told, for the same platform and trust; t has read
 * nothing. It is bad if it does not belong to it. Takes the trace over. */
struct plan *plan_receive(struct trace *t, const struct platform *platform, bool is_distrusting,
			  struct wire *w);
void plan_send(struct plan *p, struct wire *w);
void plan_free(struct plan *p);
/* Another pass, for plan_is_unkept(). */
void plan_find_unkept(struct plan *p);
/* The store was overwritten before it was durable, or never became so. Not: it did not, because its
 * thread was cut off; or another thread replaced the same word. */
bool plan_is_unkept(const struct plan *p, uint64_t seq);
bool plan_is_never_persisted(const struct plan *p, uint64_t seq);
/* pmemcheck's SET_CLEAN or PMEND_IGNORE says of all its bytes that losing them does not matter. */
bool plan_is_declared(const struct plan *p, uint64_t seq);
bool plan_is_byte_declared(const struct plan *p, uint64_t seq, uint64_t addr); /* of this one */
/* Another pass: stores of these sites (by id, n of them) are writes of commit variables. */
void plan_add_commit_sites(struct plan *p, const bool *is_commit, size_t n);
/* By such an event the program says that an operation is done. */
bool plan_is_acknowledgement(const struct plan *p, enum pmt_kind k);
/* Why there are no operations; NULL: there are. */
const char *plan_why_no_operations(const struct plan *p);
/* The number of the operation that a crash before this event interrupts, from 1: one more than had
 * ended. */
uint64_t plan_operation(const struct plan *p, uint64_t seq);
/* The file was there before the program ran. */
bool plan_is_initial(const struct plan *p, uint64_t file);
/* The event tells of such a file, or what it held. */
bool plan_is_initial_event(const struct plan *p, const struct trace_event *ev);
/* The event tells of a file that was there already, by plan->late. */
bool plan_is_late_event(const struct plan *p, const struct trace_event *ev);
/* The number of the first file with a path, 0: none. */
uint32_t plan_first_file(const struct plan *p);

/* NULL: none has this id */
static inline const struct trace_site *plan_site(const struct plan *p, uint32_t id)
{
	return id < p->sites.n ? p->sites.at[id] : NULL;
}

#endif
