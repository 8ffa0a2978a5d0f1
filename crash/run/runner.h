/* Runs recovery natively on what a crash left. One runner belongs to one worker process: it has its
 * own folder of images on tmpfs, its own region (include/pmend_run.h) and, for each command, a fork
 * server with the preloaded runtime, or plain exec where that cannot be (static programs). Nothing
 * is ever written to the user's own files, and nothing of a run is left after it. */
#ifndef CRASH_RUN_RUNNER_H
#define CRASH_RUN_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmend_run.h"
#include "trace/trace.h"
#include "util/error.h"

struct crash_image; /* image.h: the files as they are at a failure point */
/* states.h: the lines that have more than one possible content, and which are left */
struct state_set;

struct runner_options {
	const char *runtime;    /* path of libpmend_rt.so */
	const char *stdin_path; /* NULL: /dev/null */
	/* of one command; 0: none yet (the first run on the clean image, 60 s) */
	uint32_t timeout_ms;
	/* by the user; else a run that ended late gives later ones more time */
	bool is_timeout_fixed;
	uint64_t max_memory_bytes; /* besides what mapping the files takes; 0: no limit */
	/* of any file; the PM files may always become twice as large as they are. 0: no limit */
	uint64_t max_file_bytes;
	uint32_t max_processes; /* at a time; 0: no limit */
	size_t output_bytes;    /* how much of the output is kept; 0: 64 KiB */
	bool never_preload;     /* whole images by exec only */
	bool never_force_pmem;  /* the platform is msync: do not set PMEM_IS_PMEM_FORCE */
	/* what {} stands for: a PM file's own path; NULL: the path of the first file */
	const char *pool;
	/* paths by file number, for {N}; NULL: only files that are there at the failure point have
	 * one */
	const char *const *numbered;
	size_t nnumbered;
	/* every path that a PM file has at some time of the trace (renames), ended by NULL, or
	 * NULL: one that no file has at the failure point is absent then, whatever the user's
	 * folder holds */
	const char *const *paths;
	/* once it is set, a running command is ended, which is an error; NULL: never */
	const uint32_t *is_cancelled;
	/* recovery marks regions of interest: what it reads before the first is not judged
	 * either */
	bool has_roi;
	/* where the runner's folder is made; NULL: TMPDIR (/tmp) if it is memory, else /dev/shm,
	 * else TMPDIR */
	const char *folder;
};

/* A command line, split; "{}" in an argument stands for the (first) pool file, "{N}" for file
 * number N, "{dir}" for the folder of runner_load_folder(), "{op}" for the number of the operation that the crash interrupted, "{rest:FILE}" for a
 * file with the lines of FILE from that number on. */
struct runner_command {
	char **argv; /* ends with NULL */
	char *shown; /* as the user wrote it */
};
/* Splits like a shell does (quotes, backslashes), without expansion. NULL: unbalanced quotes. */
struct runner_command *runner_command_new(const char *line, struct error *err);
struct runner_command *runner_command_of(char *const argv[]); /* copies */
void runner_command_free(struct runner_command *c);
bool runner_command_has_pool(const struct runner_command *c);      /* there is a {} or {N} in it */
bool runner_command_has_folder(const struct runner_command *c);    /* a {dir} */
bool runner_command_has_operation(const struct runner_command *c); /* an {op} or {rest:FILE} */

enum run_end { RUN_EXITED, RUN_SIGNALLED, RUN_HUNG, RUN_NOT_STARTED };

/* What one command did. Strings belong to the runner, until its next run. */
struct run_result {
	enum run_end end;
	int code; /* exit status, or signal number */
	/* NUL-terminated, at most output_bytes, with the middle left out if longer */
	const char *output, *errors;
	size_t output_len, errors_len;
	uint64_t output_hash; /* of all of the standard output */
	uint64_t time_us;
	bool is_done;            /* PMEND_DONE() was reached: counts as exit 0 */
	const char *why_unsound; /* NULL: the result counts */
	uint32_t nkilled;        /* processes it left behind */
	int signal;
	uint64_t signal_addr;
	const uint64_t *signal_stack;
	size_t signal_nframes;
};

struct runner;

/* Options and mappings are copied; `file` of a mapping is the trace's number of the file. Forks a
 * guardian: however this process ends, every process of a run is killed and the folder is removed.
 * NULL: err says why. */
struct runner *runner_new(const struct runner_options *o, const struct run_mapping *mappings,
			  size_t nmappings, struct error *err);
/* ends servers, kills what is left, removes the folder; NULL is fine */
void runner_free(struct runner *r);
/* How much room this runner's images take now, and some more. A folder that has so much, or the one
 * that has the most, and how much that is. */
uint64_t runner_room_bytes(const struct runner *r);
const char *runner_room(uint64_t need_bytes, uint64_t *has_bytes);
/* Limits of the runs from now on: those whose bits are set do not hold. Such a run is watched, and
 * ended when it takes what the machine should not give. is_clean: nothing is lost, so recovery is
 * not one that lost its way; else it has some limit of processes all the same. */
enum runner_limit { RUNNER_LIMIT_FILE, RUNNER_LIMIT_MEMORY, RUNNER_LIMIT_PROCESSES, RUNNER_LIMITS };
void runner_lift(struct runner *r, unsigned limits, bool is_clean);
/* The last run was ended for what it took; *which: of what. */
bool runner_exceeded(const struct runner *r, enum runner_limit *which);
/* "pmend's limit of ... on ...; raise it with ..."; free() it. */
char *runner_limit_text(const struct runner *r, enum runner_limit which);
void runner_set_timeout(struct runner *r, uint32_t timeout_ms); /* of the commands from now on */
uint32_t runner_timeout(const struct runner *r);
uint32_t runner_ready_timeout(const struct runner *r); /* for a server to get ready */
/* No command from now on has more time than is left until then, and some in any case; 0: it has. */
void runner_set_deadline(struct runner *r, uint64_t deadline_ns);

/* The files at the failure point, and the lines with several contents; `set` may have none (a whole
 * image). Lines start with the newest content in memory. Call when either has changed. Both are
 * used, not copied: they stay as they are until the next call or the last run. */
void runner_load(struct runner *r, const struct crash_image *image, const struct state_set *set);

/* Instead of images: a folder that {dir} leads to, whose files the caller makes anew for each run.
 * Recovery names them by their own paths. */
struct runner_folder {
	/* Empties the folder and makes all that is to be in it; each line of the set with its
	 * newest content left. */
	int (*make)(void *arg, const char *folder, const uint64_t *left, struct error *err);
	void *arg;
	/* files with lines, by number in the trace: their paths below the folder, in order of the
	 * numbers */
	const struct runner_folder_file {
		uint32_t number;
		const char *path;
	} * files;
	size_t nfiles;
};
/* So many files of a folder can have lines, with paths not longer than that: others' sectors have
 * to be decided beforehand. */
#define RUNNER_FOLDER_FILES 64u
size_t runner_folder_path_max(const struct runner *r);
/* As runner_load(); all runs of this runner are of folders, then. */
void runner_load_folder(struct runner *r, const struct runner_folder *f,
			const struct state_set *set);

/* What {op} stands for from now on: 1 for the first operation, which it is at first. */
void runner_set_operation(struct runner *r, uint64_t operation);

/* Starts a run: puts back what the last one changed, then applies `left` (one bit set for each line
 * of the set, concatenated in 64-bit words per line: states_words(); NULL: all contents are
 * possible). A line with one content left gets it in memory. is_lazy: undecided lines are decided
 * as they are read; else each line takes the newest of its contents that are left. */
void runner_begin(struct runner *r, const uint64_t *left, bool is_lazy);
/* Whether decisions of the runs to come have stacks; they do at first. */
void runner_want_stacks(struct runner *r, bool wants_stacks);
/* Which reads of watched bytes the runs to come list. */
enum runner_watch {
	WATCH_JUDGED, /* that are to be judged; so it is at first */
	WATCH_ALL,
	WATCH_NOTHING,
};
void runner_watch(struct runner *r, enum runner_watch watch);
/* Runs one command on the present memory; several may follow each other in one run (recovery, then
 * a dump): the later sees what the earlier wrote, and decisions go on. -1: it cannot be run at all
 * (err says why and what to do). Lazy runs of a program that cannot be preloaded get the newest
 * contents, and why_unsound says so. */
int runner_command_run(struct runner *r, const struct runner_command *c, struct run_result *result,
		       struct error *err);
/* The decisions of this run so far. */
size_t runner_decisions(const struct runner *r, const struct run_decision **list);
/* How often it touched a page with something undecided or watched, which is what laziness costs. */
uint64_t runner_faults(const struct runner *r);
/* A run has come to a region of interest. */
bool runner_has_roi(const struct runner *r);
/* A command has opened, made or renamed a PM file since the runner was made; true also where that
 * cannot be told. */
bool runner_has_opened(const struct runner *r);
/* It has asked for one that was not there; the same. */
bool runner_has_missed(const struct runner *r);
/* Something else was where a PM file was recorded, so that it is mapped elsewhere, and pointers
 * that are kept in it lead nowhere: in this run; in any. */
bool runner_is_moved(const struct runner *r);
bool runner_has_moved(const struct runner *r);
/* A seccomp filter of recovery would have refused what the runtime does, and was not installed, in
 * any run. */
bool runner_has_sandbox(const struct runner *r);
/* Whether a decision's read is to be judged, as the annotations of the recovery program say. */
bool runner_is_judged(const struct runner *r, const struct run_decision *d);
uint64_t runner_line(const struct runner *r, size_t line); /* the address of a line */
/* Has the run overwritten this byte of a line? Known as long as something of its page is undecided
 * or watched. */
bool runner_is_written(const struct runner *r, size_t line, uint32_t byte);
/* A command has read this file, or asked for it, since runner_load(). */
bool runner_looked_at(const struct runner *r, uint32_t file);
/* To what length the lazy run cut this file, if that was longer, or from where on it punched all;
 * UINT64_MAX: it did not. */
uint64_t runner_cut(const struct runner *r, uint32_t file);
/* Bit sets of contents left now, as given to runner_begin(). */
const uint64_t *runner_left(const struct runner *r);

/* A number for the set of places that the run wrote, 0: it wrote nothing. */
uint64_t runner_changes(const struct runner *r);
/* A number for what the files hold now, but for the 8-byte words of some bytes: two runs of what is
 * loaded that leave the same have the same. */
uint64_t runner_content(const struct runner *r, uint64_t addr, uint64_t len_bytes);
struct run_gap {
	uint64_t addr, len_bytes;
};
/* the same, but for the words of several ranges */
uint64_t runner_content_beside(const struct runner *r, const struct run_gap *gaps, size_t n);

/* Writes the files, as they would be for a run with `left` and no laziness, into a folder:
 * FOLDER/NAME each (FOLDER/NUMBER-NAME if an earlier file has that name). Absent files are not
 * written. */
int runner_export(struct runner *r, const uint64_t *left, const char *folder, struct error *err);

/* The executable objects of the server of a command, for symbols: those of its address space when
 * it last answered. */
size_t runner_objects(const struct runner *r, const struct runner_command *c,
		      const struct trace_object **list);

/* A background command, for servers: started, and ended later (SIGTERM, then SIGKILL). */
int runner_background(struct runner *r, const struct runner_command *c, struct error *err);
bool runner_background_runs(struct runner *r);
void runner_background_end(struct runner *r, struct run_result *result);

#endif
