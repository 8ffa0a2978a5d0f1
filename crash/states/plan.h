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

/* An operation: from PMEND_OP_BEGIN to PMEND_OP_END; or guessed, from a request to its answer
 * (requests.h), or between two acknowledgements (outputs). */
struct operation {
	uint64_t begin_seq, end_seq; /* UINT64_MAX: it never ended */
	uint32_t stream, thread;
	const char *name; /* from the annotation; "" without one */
};

/* A commit variable. PMEND_COMMIT_VAR sets var and var_bytes; PMEND_COMMIT_RANGE sets var, addr and
 * len_bytes. All are PM addresses. */
struct plan_commit {
	uint64_t var, var_bytes;
	uint64_t addr, len_bytes;
	uint64_t seq; /* the first such annotation; 0: it comes from an option of the user */
};

/* The FILE or CONTENT event of a file that the program made and mapped only later, when its content
 * was durable already. */
struct plan_late {
	uint64_t since; /* the last event before the file was durable */
	struct trace_event ev;
};

struct plan {
	const char *path; /* path of the trace */
	const struct platform *platform;
	/* read to its end, for names of files and symbols; use trace_cursor() to read it again */
	struct trace *trace;
	VEC(uint64_t) sizes; /* by file number: the largest size of the file */
	/* distinct mappings, in order; `file` is the file's number */
	VEC(struct run_mapping) mappings;
	VEC(struct operation) operations;     /* ascending begin_seq */
	VEC(const struct trace_site *) sites; /* index: site id */
	/* by site: true where a library creates a pool, which counts as one step; empty: not
	 * known */
	VEC(bool) making;
	/* ascending seq of the stores that were not written back until the end */
	VEC(uint64_t) never_persisted;
	/* filled by plan_find_unkept(): ascending seq of the stores that were overwritten before
	 * they were durable */
	VEC(uint64_t) unkept;
	/* ascending seq of the stores that the program declared clean, or volatile on purpose */
	VEC(uint64_t) declared;
	/* the same per byte, also for stores that are declared in part */
	declared_list declared_bytes;
	VEC(struct plan_commit) commits; /* distinct annotations */
	struct arena arena;
	uint64_t nevents;
	uint64_t nold_bytes; /* old bytes that --old-bytes left */
	/* FILE and CONTENT events with the initial content of files that the program did not
	 * create */
	VEC(struct trace_event) initial;
	uint64_t last_initial_seq;
	VEC(struct plan_late) late; /* ascending `since` */
	VEC(const char *) numbered; /* by file number: its path, or NULL */
	VEC(const char *) paths;    /* all paths that PM files ever have; ends with NULL */
	VEC(uint64_t) outputs;      /* seq of acknowledgements: write and send to the outside */
	/* recovery's commands name a pool, so recovery finds nothing if no file has such a name */
	bool is_pool_named;
	bool has_roi, has_annotated_operations;
	bool has_requests; /* operations were guessed per thread, from requests */
	bool has_input;    /* the program has read requests */
	/* one acknowledgement contains several lines, so acknowledgements do not separate
	 * operations */
	bool is_output_bunched;
	bool is_exact;       /* the model never had to drop states */
	bool is_distrusting; /* PMDK's libraries are judged like other code */
	uint64_t ntrusted;   /* model_ntrusted() */
	/* other than CUT_NONE: the program was cut off, so the end is a crash like any other */
	enum cut_extent cut;
	const struct trace_site
		/* the site of the last event that has one; NULL: none has one, or the plan comes
		 * from an index */
		*last_site;
};

/* Reads an open trace to its end; the plan owns the trace then. is_distrusting: see
 * model_distrust(). */
struct plan *plan_of_trace(struct trace *t, const struct platform *platform, bool is_distrusting);
/* Makes a model for the trace's events with the plan's settings. */
struct model *plan_model(const struct plan *p, const struct model_image *image);
struct plan *plan_new(const char *path, const struct platform *platform, struct error *err);
/* Receives what an earlier pass over the same trace found, for the same platform and trust. t has
 * not been read yet; the plan owns it then. w is bad if it belongs to another trace. */
struct plan *plan_receive(struct trace *t, const struct platform *platform, bool is_distrusting,
			  struct wire *w);
void plan_send(struct plan *p, struct wire *w);
void plan_free(struct plan *p);
/* Fills `unkept` for plan_is_unkept() in another pass. */
void plan_find_unkept(struct plan *p);
/* Was the store overwritten before it was durable, or never durable? Stores of a thread that was
 * cut off do not count, and words that another thread replaced do not, either. */
bool plan_is_unkept(const struct plan *p, uint64_t seq);
bool plan_is_never_persisted(const struct plan *p, uint64_t seq);
/* Does SET_CLEAN or PMEND_IGNORE say of all bytes of the store that losing them does not matter? */
bool plan_is_declared(const struct plan *p, uint64_t seq);
/* Does SET_CLEAN or PMEND_IGNORE say of one byte of the store that losing it does not matter? */
bool plan_is_byte_declared(const struct plan *p, uint64_t seq, uint64_t addr);
/* Marks the stores of these sites (n of them, by id) as writes of commit variables, in another
 * pass. */
void plan_add_commit_sites(struct plan *p, const bool *is_commit, size_t n);
/* Does an event of this kind tell the outside that an operation is done? */
bool plan_is_acknowledgement(const struct plan *p, enum pmt_kind k);
/* Says why there are no operations; NULL if there are some. */
const char *plan_why_no_operations(const struct plan *p);
/* Gives the number of the operation that a crash before this event interrupts: 1 + the number of
 * operations that had ended. */
uint64_t plan_operation(const struct plan *p, uint64_t seq);
/* Was the file there before the program ran? */
bool plan_is_initial(const struct plan *p, uint64_t file);
/* Does the event describe a file that was there before the program ran, or the content of such a
 * file? */
bool plan_is_initial_event(const struct plan *p, const struct trace_event *ev);
/* Does the event describe a file of plan->late? */
bool plan_is_late_event(const struct plan *p, const struct trace_event *ev);
/* Is the path the name of a pool: the last name that some file got, or one that a file had before
 * the program ran? A name under which a pool is made, until it is renamed, is none. */
bool plan_is_pool_name(const struct plan *p, const char *path);
/* The number of the file that {} stands for: the one whose last name is {pool}, or else the first
 * that has a path; 0 if none has. */
uint32_t plan_pool_file(const struct plan *p);

/* Finds a site by its id; NULL if no site has it. */
static inline const struct trace_site *plan_site(const struct plan *p, uint32_t id)
{
	return id < p->sites.n ? p->sites.at[id] : NULL;
}

#endif
