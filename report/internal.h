/* What the files of report/ share and others do not see. */
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

/* An instruction, with its callers, that a bug was seen at. One line of the source may have
 * several, also inside a library. */
struct report_site {
	uint32_t site;
	uint64_t first_seq;
};

struct report_entry {
	struct bug bug;
	const char *key; /* equal for what is merged; orders equal bugs by their lines */
	VEC(struct report_path) paths;
	VEC(struct report_site) sites; /* where a trace is at hand */
	struct report_entry *next;     /* same hash, other key */
	/* causes.c: listed under that one; NULL: a finding of its own */
	struct report_entry *cause;
	bool is_dropped;                   /* causes.c: it turned out to be none */
	const struct report_entry *lender; /* causes.c: whose crash it shows; NULL: its own */
	/* causes.c: it may have the cause of that one; NULL: none */
	struct report_entry *may_share;
	size_t origin, origin_cause; /* unfold.c: see report_origin() */
};

/* What is on the heap; the rest is in the arena. */
static inline void entry_release(struct report_entry *e)
{
	vec_release(&e->paths);
	vec_release(&e->sites);
}

/* Findings inside a library that were folded into one line. */
struct report_folded {
	const char *library;
	size_t nbugs;
};

/* A block of a suppression file that hid something. */
struct report_suppressed {
	const char *file;
	unsigned line;
	size_t nbugs;
};

struct report {
	struct arena arena;
	VEC(struct report_entry *) bugs;
	VEC(struct report_entry *) unflushed; /* no bugs */
	struct map by_key;                    /* hash of key → struct report_entry, of both */
	struct sources *sources;
	const char *version, *platform; /* platform may be NULL */
	bool is_platform_chosen;        /* by what the program does */
	VEC(const char *) platforms;    /* all that were judged, if they are several */
	VEC(const char *) command;
	VEC(const char *) recipe;
	VEC(const char *) crash_options;
	VEC(const char *) library_globs;
	struct report_coverage coverage;
	struct report_ending ending;
	struct report_shard shard;
	struct report_project project; /* file NULL: none; its options are the list here */
	VEC(const char *) options;
	VEC(struct report *) tests; /* tests.c: owned; their bugs are in bugs, too */
	VEC(const char *) analyses;
	struct report_failure failure; /* what NULL: none */
	struct report_fail_on fail_on;
	bool has_coverage, has_ending;
	bool is_finished;
	size_t nsuppressed, nknown; /* hidden by suppressions and baseline */
	size_t nlesser;             /* hidden by --severity */
	VEC(struct report_folded) folded;
	size_t norigins; /* unfold.c */
	VEC(struct report_suppressed) suppressed;
};

/* report.c: adds without merging and with the id it has, for the reader. */
void report_append(struct report *r, const struct bug *b);
/* Removes what hides() says; returns how many. */
size_t report_filter(struct report *r, bool (*hides)(const void *context, const struct bug *b),
		     const void *context);

/* NULL if there is none */
struct report_entry *report_find(const struct report *r, const char *key, uint64_t hash);
struct report_entry *report_insert(struct report *r, const struct bug *b, const char *key,
				   uint64_t hash);

/* paths.c: a path that is known already: counts add up, or the larger one stays. */
enum paths_counts { PATHS_ADD_UP, PATHS_LARGEST };
void paths_add(struct report *r, struct report_entry *e, const struct bug *b,
	       enum paths_counts how);
/* of another platform: the largest counts */
void paths_add_entry(struct report *r, struct report_entry *e, const struct report_entry *other);
/* its crash, to the path that is the same */
void paths_add_evidence(struct report *r, struct report_entry *e, const struct bug *b);
void paths_finish(struct report *r, struct report_entry *e); /* gives them to the bug */

/* outcome.c: the keys "analyses", "fail_on" and "failure" */
void outcome_json(json_t *top, const struct report *r);
/* false: what is wrong with it is in *why */
bool outcome_read(struct report *r, const json_t *top, const char **why);

/* tests.c: the keys "project" and "hidden"; and all keys but "bugs", of a test */
void project_json(json_t *top, const struct report *r);
bool project_read(struct report *r, const json_t *top, const char **why);

/* order.c: the best evidence first, then by id */
void order_sort(struct report_entry **list, size_t n);

/* fold.c: "14 findings inside libpmemobj: --libraries shows them"; malloc'd. */
char *folded_text(const struct report_folded *f);

/* recording_end.c: what every rendering says of unflushed stores, as a heading. */
/* Of bug_crash.varies, without a full stop. */
#define VARIES_TEXT \
	"A second run on this state ended or printed otherwise, and so may a replay: recovery depends on more than the crash state"
const char *ending_unflushed(const struct report *r); /* the heading of what was not */
json_t *ending_json(const struct report *r, json_t *(*location)(const struct bug_location *l));

/* platforms.c: "loses data on x86-adr, msync; safe on eadr"; NULL if the report is about one
 * platform. malloc'd. */
char *platforms_text(const struct report *r, const struct bug *b);

/* causes.c: a finding of another report that was added to this one. Findings of one cause are a
 * group. */
struct causes_member {
	struct report_entry *entry;
	struct report_entry *cause; /* of the group; the entry itself or NULL: it has none */
	size_t group;
	bool is_new; /* this report did not have it before */
};
typedef VEC(struct causes_member) causes_members;

/* All findings of the other report are added. One stays listed under a cause only if each report
 * that has it explains it by that cause: what is alone somewhere may be a bug of its own. There,
 * which of two is the cause makes no difference: the first report tells that. Of a flush that is
 * too short, any short-flush is as good: one report knows that the helper is wrong, and another one
 * has only seen a call of it. */
void causes_merge(const causes_members *all);
/* When all have ids and are sorted, those that have a cause go to it. */
void causes_finish(struct report *r);

/* bug.c: deep copies; NULL stays NULL. */
void bug_copy(struct arena *a, struct bug *copy, const struct bug *b);
const struct bug_location *bug_locations_copy(struct arena *a, const struct bug_location *locations,
					      size_t n);
const struct bug_crash *bug_crash_copy(struct arena *a, const struct bug_crash *c);
const struct bug_input *bug_input_copy(struct arena *a, const struct bug_input *i);
/* coverage.c: */
/* a sentence without its end; NULL: every failure point was explored whole, or none was;
 * malloc'd */
char *depth_text(const struct report_coverage *c);
const char *const *strings_copy(struct arena *a, const char *const *list, size_t n);
void coverage_copy(struct arena *a, struct report_coverage *copy, const struct report_coverage *c);

/* groups_json.c: for the coverage */
json_t *groups_json(const struct report_groups *g);
/* NULL: what is wrong with it is in *why, or there is none. */
const struct report_groups *groups_read(struct arena *a, const json_t *o, const char **why);
/* "progress": the inputs of an exploration that found something. What has the wrong type counts as
 * not there. */
void found_json(json_t *coverage, const struct report_coverage *c);
void found_read(struct arena *a, const json_t *coverage, struct report_coverage *c);

/* evidence_json.c: the keys "timeline" and "memory" of a bug */
void evidence_json(json_t *bug, const struct evidence *e);
/* NULL: what is wrong with it is in *why, or there is none. */
const struct evidence *evidence_read(struct arena *a, const json_t *bug, const char **why);
/* comparison_json.c: for a crash; NULL as groups_read() */
json_t *comparison_json(const struct bug_comparison *c);
const struct bug_comparison *comparison_read(struct arena *a, const json_t *o, const char **why);
/* "choices" and "choices_all" of a crash. What has the wrong type counts as not there. */
void choices_json(json_t *crash, const struct bug_crash *c,
		  void (*set_frame)(json_t *o, const struct bug_frame *frame));
void choices_read(struct arena *a, const json_t *crash, struct bug_crash *c);

/* coverage.c: false: what is wrong with it is in *why */
json_t *shard_json(const struct report_shard *s);
bool shard_read(struct report *r, const json_t *o, const char **why);

/* ident.c */
char *ident_key(const struct bug *b);      /* malloc'd: kind, roles and lines */
char *ident_path_key(const struct bug *b); /* malloc'd: with all callers */
/* malloc'd: with the names of all callers, without lines */
char *ident_functions(const struct bug *b);
void ident_assign(struct report *r);

/* source.c: lines of source files, each read once. Only regular files of sensible size are read. */
struct sources;
struct sources *sources_new(void);
void sources_free(struct sources *s);
void sources_add_folder(struct sources *s, const char *folder);
/* A line without its newline and without NUL at the end; NULL if there is none. */
const char *source_line(struct sources *s, const char *file, uint32_t line, size_t *len);
/* Where the file was found, NULL if it cannot be read. */
const char *source_path(struct sources *s, const char *file);

/* path.c: no file system involved. */
const char *path_base(const char *path); /* "" for NULL */
/* malloc'd; relative if below cwd */
char *path_uri(const char *path, const char *cwd, bool *is_below);

/* escape.c: names and messages may hold any bytes. */
/* of the valid sequence at p, 0 if there is none */
size_t escape_utf8_len(const char *p, size_t n);
/* malloc'd; what is no UTF-8 becomes U+FFFD */
char *escape_utf8(const char *s);
void escape_html(FILE *f, const char *s, size_t n);

/* json_value.c */
json_t *json_text(const char *s);                              /* any bytes */
json_t *json_number(uint64_t n);                               /* at most INT64_MAX */
void json_set_text(json_t *o, const char *key, const char *s); /* nothing for NULL */
void json_set_number(json_t *o, const char *key, uint64_t n);  /* nothing for 0 */
const char *json_get_text(const json_t *o, const char *key);   /* NULL: not there, or no text */
uint64_t json_get_number(const json_t *o, const char *key);    /* 0: not there, or no number */

#endif
