/* Declares what only the files of report/ share with each other: the report, its entries, and
 * helpers. */
#ifndef REPORT_INTERNAL_H
#define REPORT_INTERNAL_H

#include <jansson.h>
#include <stdio.h>

#include "report/escape.h"
#include "report/bug.h"
#include "report/evidence.h"
#include "report/outcome.h"
#include "report/tests.h"
#include "util/alloc.h"
#include "util/hash.h"
#include "util/map.h"
#include "util/vec.h"

struct report_path {
	const char *key;
	struct bug_path path;
};

/* An instruction at which a bug was seen, with its callers. One source line may have several, also
 * inside a library. */
struct report_site {
	uint32_t site;
	uint64_t first_seq;
};

struct report_entry {
	struct bug bug;
	/* findings with equal keys are merged; sorting by key sorts equal bugs by their lines */
	const char *key;
	VEC(struct report_path) paths;
	VEC(struct report_site) sites; /* known only if the trace is at hand */
	struct report_entry *next;     /* next in the bucket: same hash, other key */
	/* causes.c: the finding under which it is listed; NULL: it is a finding of its own */
	struct report_entry *cause;
	bool is_dropped; /* causes.c: it turned out to be no bug */
	/* causes.c: the finding whose crash it shows; NULL: its own */
	const struct report_entry *lender;
	/* causes.c: the finding that may have the same cause; NULL: none */
	struct report_entry *may_share;
	size_t origin, origin_cause; /* unfold.c: see report_origin() */
};

/* Frees the parts that are on the heap; the rest is in the arena. */
static inline void entry_release(struct report_entry *e)
{
	vec_release(&e->paths);
	vec_release(&e->sites);
}

/* A library whose findings were folded into one line. */
struct report_folded {
	const char *library;
	size_t nbugs;
};

/* A block of a suppression file that hid a bug. */
struct report_suppressed {
	const char *file;
	unsigned line;
	size_t nbugs;
};

struct report {
	struct arena arena;
	VEC(struct report_entry *) bugs;
	/* stores that a killed program did not flush; no bugs */
	VEC(struct report_entry *) unflushed;
	/* hash of key → struct report_entry, of `bugs` and `unflushed` */
	struct map by_key;
	struct sources *sources;
	const char *version, *platform; /* platform may be NULL */
	const char *files_profile;      /* by which files were judged; NULL: none were followed */
	bool is_files_only;             /* the program used no memory beside them */
	bool is_platform_chosen;        /* pmend chose the platform by what the program does */
	VEC(const char *) platforms;    /* all judged platforms, if there are several */
	VEC(const char *) command;
	VEC(const char *) recipe;
	VEC(const char *) files_options; /* --files DIR, --files-except GLOB */
	VEC(const char *) crash_options;
	VEC(const char *) library_globs;
	struct report_coverage coverage;
	struct report_ending ending;
	struct report_shard shard;
	/* file is NULL: no project file; its options are in `options` */
	struct report_project project;
	VEC(const char *) options;
	/* tests.c: reports of single tests, owned; their bugs are in `bugs`, too */
	VEC(struct report *) tests;
	VEC(const char *) analyses;
	struct report_failure failure; /* what is NULL: nothing failed */
	struct report_fail_on fail_on;
	bool has_coverage, has_ending;
	bool is_finished;
	size_t nsuppressed, nknown; /* hidden by suppressions and baseline */
	size_t nlesser;             /* hidden by --severity */
	VEC(struct report_folded) folded;
	size_t norigins; /* unfold.c */
	VEC(struct report_suppressed) suppressed;
};

/* report.c: adds a bug that was read from a file; it is not merged and keeps its id. */
void report_append(struct report *r, const struct bug *b);
/* report.c: like report_add_run(), for a run under one of several orders of threads; NULL: it is
 * none. */
void report_add_run_of(struct report *r, const struct report *other, const struct bug_input *input,
		       const struct bug_schedules *schedules);
/* bug.c */
const struct bug_schedules *bug_schedules_copy(struct arena *a, const struct bug_schedules *s);
/* Joins two lists; takes_trace: the trace is that of the other one. */
const struct bug_schedules *bug_schedules_join(struct arena *a, const struct bug_schedules *s,
					       const struct bug_schedules *other, bool takes_trace);
/* Removes the bugs for which hides() is true; returns how many. */
size_t report_filter(struct report *r, bool (*hides)(const void *context, const struct bug *b),
		     const void *context);

/* Finds the entry of a bug by its key and the key's hash; NULL if there is none. */
struct report_entry *report_find(const struct report *r, const char *key, uint64_t hash);
struct report_entry *report_insert(struct report *r, const struct bug *b, const char *key,
				   uint64_t hash);

/* paths.c: what happens to the count of a path that is added a second time. */
enum paths_counts { PATHS_ADD_UP, PATHS_LARGEST };
void paths_add(struct report *r, struct report_entry *e, const struct bug *b,
	       enum paths_counts how);
/* Adds the paths of another platform's entry; of each count, the larger one stays. */
void paths_add_entry(struct report *r, struct report_entry *e, const struct report_entry *other);
/* Adds the crash of b to the call path of the entry that b has, too. */
void paths_add_evidence(struct report *r, struct report_entry *e, const struct bug *b);
void paths_finish(struct report *r, struct report_entry *e); /* stores the paths in the bug */

/* outcome.c: outcome_json() writes the keys "analyses", "fail_on" and "failure". */
void outcome_json(json_t *top, const struct report *r);
/* Reads what outcome_json() wrote. False: *why says what is wrong with it. */
bool outcome_read(struct report *r, const json_t *top, const char **why);

/* tests.c: project_json() writes the keys "project" and "hidden", project_read() reads them. */
void project_json(json_t *top, const struct report *r);
bool project_read(struct report *r, const json_t *top, const char **why);

/* order.c: sorts findings; the best evidence first, then by id. */
void order_sort(struct report_entry **list, size_t n);

/* fold.c: says, for example, "14 findings inside libpmemobj: --libraries shows them"; free() it. */
char *folded_text(const struct report_folded *f);

/* wrappers.c: names the option --library that would show the callers of functions that flush for
 * others, without a full stop; NULL: most performance findings lie elsewhere. free() it. */
char *wrappers_text(const struct report *r);

/* recording_end.c: how the recording ended, and what was not flushed then. */
/* What a report says of bug_crash.varies, without a full stop. */
#define VARIES_TEXT \
	"A second run on this state ended or printed otherwise, and so may a replay: recovery depends on more than the crash state"
const char *ending_unflushed(const struct report *r); /* the heading of the unflushed stores */
json_t *ending_json(const struct report *r, json_t *(*location)(const struct bug_location *l));

/* platforms.c: says, for example, "loses data on x86-adr, msync; safe on eadr"; NULL if the report
 * is about one platform. free() it. */
char *platforms_text(const struct report *r, const struct bug *b);
/* platforms.c: what the report is about: "x86-adr", "ext4", or "x86-adr and ext4"; free() it. NULL:
 * the report does not say. */
char *platform_text(const struct report *r);

/* causes.c: a finding of another report that was added to this one. Findings of one cause are a
 * group. */
struct causes_member {
	struct report_entry *entry;
	struct report_entry *cause; /* its cause; the entry itself or NULL: it has none */
	size_t group;
	bool is_new; /* this report did not have it before */
};
typedef VEC(struct causes_member) causes_members;

/* Decides which findings stay listed under a cause, after all findings of another report were
 * added. A finding stays there only if each report that has it explains it by that cause: one that
 * stands alone in a report may be a bug of its own. If two reports disagree on which of two
 * findings is the cause, the first report decides. For a flush that is too short, any short-flush
 * finding is as good: one report knows that the helper is wrong, another one has only seen a call
 * of it. */
void causes_merge(const causes_members *all);
/* Moves each finding that has a cause into the list of that cause. All must have ids and be
 * sorted. */
void causes_finish(struct report *r);

/* bug.c: makes deep copies; NULL gives NULL. */
void bug_copy(struct arena *a, struct bug *copy, const struct bug *b);
const struct bug_location *bug_locations_copy(struct arena *a, const struct bug_location *locations,
					      size_t n);
const struct bug_crash *bug_crash_copy(struct arena *a, const struct bug_crash *c);
const struct bug_input *bug_input_copy(struct arena *a, const struct bug_input *i);
/* coverage.c */
/* Says how far failure points were explored, as a sentence without its end. NULL: each was explored
 * completely, or none was. free() it. */
char *depth_text(const struct report_coverage *c);
const char *const *strings_copy(struct arena *a, const char *const *list, size_t n);
void coverage_copy(struct arena *a, struct report_coverage *copy, const struct report_coverage *c);

/* groups_json.c: makes the account of representative testing for the key "coverage". */
json_t *groups_json(const struct report_groups *g);
/* Reads what groups_json() made. NULL: there is none, or *why says what is wrong. */
const struct report_groups *groups_read(struct arena *a, const json_t *o, const char **why);
/* found_json() writes the key "progress", the inputs that showed something new; found_read() reads
 * it. A value of the wrong type counts as missing. */
void found_json(json_t *coverage, const struct report_coverage *c);
void found_read(struct arena *a, const json_t *coverage, struct report_coverage *c);

/* evidence_json.c: writes the keys "timeline" and "memory" of a bug. */
void evidence_json(json_t *bug, const struct evidence *e);
/* Reads what evidence_json() wrote. NULL: there is none, or *why says what is wrong. */
const struct evidence *evidence_read(struct arena *a, const json_t *bug, const char **why);
/* comparison_json.c: comparison_json() makes the comparison of a dump for the key "crash",
 * comparison_read() reads it. NULL: there is none, or *why says what is wrong. */
json_t *comparison_json(const struct bug_comparison *c);
const struct bug_comparison *comparison_read(struct arena *a, const json_t *o, const char **why);
/* choices_json() writes "choices" and "choices_all" of a crash, choices_read() reads them. A value
 * of the wrong type counts as missing. */
void choices_json(json_t *crash, const struct bug_crash *c,
		  void (*set_frame)(json_t *o, const struct bug_frame *frame));
void choices_read(struct arena *a, const json_t *crash, struct bug_crash *c);

/* coverage.c: shard_json() makes the JSON of a part of an analysis; shard_read() reads it, and
 * returns false if *why says what is wrong. */
json_t *shard_json(const struct report_shard *s);
bool shard_read(struct report *r, const json_t *o, const char **why);

/* ident.c: makes the keys by which findings are compared, and their ids. */
char *ident_key(const struct bug *b);      /* kind, roles and lines; free() it */
char *ident_path_key(const struct bug *b); /* the same with all callers; free() it */
/* Makes a key of the functions at each location and all their callers, without lines; free() it. */
char *ident_functions(const struct bug *b);
void ident_assign(struct report *r);

/* source.c: lines of source files. Each file is read once. Only regular files of sensible size are
 * read. */
struct sources;
struct sources *sources_new(void);
void sources_free(struct sources *s);
void sources_add_folder(struct sources *s, const char *folder);
/* Returns a line without its newline and without NUL at its end; NULL if there is none. */
const char *source_line(struct sources *s, const char *file, uint32_t line, size_t *len);
/* Gives the path under which the file was found; NULL if it cannot be read. */
const char *source_path(struct sources *s, const char *file);

/* path.c: handles paths as text; the file system is not asked. */
const char *path_base(const char *path); /* "" for NULL */
/* Makes a URI; relative if the path is below cwd. free() it. */
char *path_uri(const char *path, const char *cwd, bool *is_below);

/* escape.c: names and messages may hold any bytes. */
/* Gives the length of the valid UTF-8 sequence at p; 0 if it is invalid. */
size_t escape_utf8_len(const char *p, size_t n);
/* Replaces what is no UTF-8 by U+FFFD; free() it. */
char *escape_utf8(const char *s);
void escape_html(FILE *f, const char *s, size_t n);

/* json_value.c: makes JSON values, and reads them. */
json_t *json_text(const char *s);                              /* s may hold any bytes */
json_t *json_number(uint64_t n);                               /* cut to INT64_MAX */
void json_set_text(json_t *o, const char *key, const char *s); /* adds nothing for NULL */
void json_set_number(json_t *o, const char *key, uint64_t n);  /* adds nothing for 0 */
const char *json_get_text(const json_t *o, const char *key);   /* NULL: missing, or no text */
uint64_t json_get_number(const json_t *o, const char *key);    /* 0: missing, or no number */

#endif
