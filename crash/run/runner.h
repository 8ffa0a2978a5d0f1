/* Runs recovery natively on a crash state. One runner belongs to one worker process. It has its own
 * folder of images on tmpfs, its own region (include/pmend_run.h) and, per command, a fork server
 * with the preloaded runtime; a program that cannot have the runtime (static ones) is executed
 * instead. The user's own files are never written, and nothing of a run stays after it. */
#ifndef CRASH_RUN_RUNNER_H
#define CRASH_RUN_RUNNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pmend_run.h"
#include "trace/trace.h"
#include "util/error.h"

struct crash_image; /* image.h: the files at a failure point */
/* states.h: the lines that have more than one possible content */
struct state_set;

struct runner_options {
	const char *runtime;    /* path of libpmend_rt.so */
	const char *stdin_path; /* NULL: /dev/null */
	/* per command; 0: not known yet, so the first run on the clean image gets 60 s */
	uint32_t timeout_ms;
	/* set by the user; otherwise a run that ends late gives later runs more time */
	bool is_timeout_fixed;
	uint64_t max_memory_bytes; /* in addition to the mapped files; 0: no limit */
	/* per file; PM files may always become twice as large as they are. 0: no limit */
	uint64_t max_file_bytes;
	uint32_t max_processes; /* at the same time; 0: no limit */
	size_t output_bytes;    /* bytes of the output that are kept; 0: 64 KiB */
	bool never_preload;     /* only whole images, with exec */
	bool never_force_pmem;  /* the platform is msync, so PMEM_IS_PMEM_FORCE is not set */
	/* path for {}; NULL: the path of the first file */
	const char *pool;
	/* paths by file number, for {N}; NULL: only files that exist at the failure point have
	 * one */
	const char *const *numbered;
	size_t nnumbered;
	/* all paths that PM files ever have in the trace (renames), ended by NULL, or NULL. A path
	 * that no file has at the failure point is absent in the run, whatever the user's folder
	 * contains. */
	const char *const *paths;
	/* when it becomes non-zero, the running command is stopped with an error; NULL: never */
	const uint32_t *is_cancelled;
	bool (*wants_cancel)(void *arg); /* the same, asked */
	void *cancel_arg;
	/* recovery marks regions of interest, so its reads before the first one are not judged,
	 * either */
	bool has_roi;
	/* where the runner's folder is made; NULL: TMPDIR (/tmp) if it is in memory, else /dev/shm,
	 * else TMPDIR */
	const char *folder;
};

/* A command line, split into arguments. Placeholders: "{}" is the (first) pool file, "{N}" file
 * number N, "{dir}" the folder of runner_load_folder(), "{op}" the number of the operation that the
 * crash interrupted, "{rest:FILE}" a file with the lines of FILE from that number on. */
struct runner_command {
	char **argv; /* ends with NULL */
	char *shown; /* as the user wrote it */
};
/* Splits a line like a shell (quotes, backslashes), without expansion. NULL if quotes are not
 * closed. */
struct runner_command *runner_command_new(const char *line, struct error *err);
struct runner_command *runner_command_of(char *const argv[]); /* copies the arguments */
void runner_command_free(struct runner_command *c);
bool runner_command_has_pool(const struct runner_command *c);   /* does it have a {} or {N}? */
bool runner_command_has_folder(const struct runner_command *c); /* does it have a {dir}? */
/* Does the command have an {op} or {rest:FILE}? */
bool runner_command_has_operation(const struct runner_command *c);

enum run_end { RUN_EXITED, RUN_SIGNALLED, RUN_HUNG, RUN_NOT_STARTED };

/* How a command ended, and what it printed. The runner owns the strings; they are valid until its
 * next run. */
struct run_result {
	enum run_end end;
	int code;      /* exit status or signal number */
	bool is_brief; /* it hung, but only the short limit ended it: it may not hang at all */
	/* ends with NUL; at most output_bytes; if longer, the middle is left out */
	const char *output, *errors;
	size_t output_len, errors_len;
	uint64_t output_hash; /* of the complete standard output */
	uint64_t time_us;
	bool is_done;            /* PMEND_DONE() was reached; counts as exit status 0 */
	const char *why_unsound; /* NULL: the result counts */
	uint32_t nkilled;        /* processes that it left behind */
	int signal;
	uint64_t signal_addr;
	const uint64_t *signal_stack;
	size_t signal_nframes;
};

struct runner;

/* Makes a runner. Copies options and mappings; `file` of a mapping is the file's number in the
 * trace. Forks a guardian: however this process ends, every process of a run is killed and the
 * folder is removed. NULL: err says why. */
struct runner *runner_new(const struct runner_options *o, const struct run_mapping *mappings,
			  size_t nmappings, struct error *err);
/* Stops servers, kills remaining processes, removes the folder. NULL is allowed. */
void runner_free(struct runner *r);
/* runner_room_bytes() gives the space that this runner's images need, with a reserve. runner_room()
 * gives a folder that has so much space, or the one with the most; *has_bytes: its space. */
uint64_t runner_room_bytes(const struct runner *r);
const char *runner_room(uint64_t need_bytes, uint64_t *has_bytes);
/* Lifts limits of the following runs: those whose bits are set. Such a run is watched and stopped
 * if it uses more than the machine should give. is_clean: nothing is lost, so recovery is expected
 * to behave; otherwise a limit of processes stays. */
enum runner_limit { RUNNER_LIMIT_FILE, RUNNER_LIMIT_MEMORY, RUNNER_LIMIT_PROCESSES, RUNNER_LIMITS };
void runner_lift(struct runner *r, unsigned limits, bool is_clean);
/* Was the last run stopped for using too much? *which: of what. */
bool runner_exceeded(const struct runner *r, enum runner_limit *which);
/* Says "pmend's limit of ... on ...; raise it with ..."; free() it. */
char *runner_limit_text(const struct runner *r, enum runner_limit which);
void runner_set_timeout(struct runner *r, uint32_t timeout_ms); /* for the following commands */
uint32_t runner_timeout(const struct runner *r);
/* Ends the following commands after a few times as long as commands that ended by themselves took,
 * if that is much less than the usual limit. */
void runner_be_brief(struct runner *r, bool is_brief);
uint32_t runner_ready_timeout(const struct runner *r); /* time for a server to become ready */
/* Sets a deadline: no following command gets much more time than is left until then, but always a
 * minimum. 0: no deadline. */
void runner_set_deadline(struct runner *r, uint64_t deadline_ns);

/* Loads a failure point: the files, and the lines with several contents; `set` may have none (a
 * whole image). Lines have their newest content in memory at first. To be called when either has
 * changed. Both are borrowed until the next call or the last run. */
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
	/* for {dir}, {dir2}…: paths below the folder, or "" for the folder itself; valid as long as
	 * the runner */
	const char *const *places;
	size_t nplaces;
};
/* At most so many files of a folder can have lines with several contents, and the paths of these
 * files can be at most runner_folder_path_max() long. The sectors of other files have to be decided
 * before a run. */
#define RUNNER_FOLDER_FILES 64u
size_t runner_folder_path_max(const struct runner *r);
/* Loads a failure point of followed files, like runner_load(): the folder and its lines. All runs
 * of a runner are of folders then. */
void runner_load_folder(struct runner *r, const struct runner_folder *f,
			const struct state_set *set);

const char *runner_folder_path(const struct runner *r); /* what {dir} leads to */

/* Sets {op} for the following runs; 1 is the first operation, and the default. */
void runner_set_operation(struct runner *r, uint64_t operation);

/* Begins a run: restores what the last run changed, then applies `left` (the bit sets of all lines,
 * one after the other, in 64-bit words: states_words(); NULL: all contents are possible). A line
 * with one content left has it in memory. is_lazy: undecided lines are decided when they are read;
 * otherwise each line gets the newest of its contents that are left. */
void runner_begin(struct runner *r, const uint64_t *left, bool is_lazy);
/* Do decisions of the following runs have stacks? By default they do. */
void runner_want_stacks(struct runner *r, bool wants_stacks);
/* Which reads of watched bytes the following runs list. */
enum runner_watch {
	WATCH_JUDGED, /* reads that are judged; the default */
	WATCH_ALL,
	WATCH_NOTHING,
};
void runner_watch(struct runner *r, enum runner_watch watch);
/* Runs one command on the present memory. Several commands may follow each other in one run
 * (recovery, then a dump): the later one sees what the earlier one wrote, and the list of decisions
 * continues. -1: it cannot be run at all (err says why and what to do). In a lazy run, a program
 * that cannot be preloaded gets the newest contents, and why_unsound says so. */
int runner_command_run(struct runner *r, const struct runner_command *c, struct run_result *result,
		       struct error *err);
/* Writes into a file between two commands of a run that is not lazy. Nothing happens if the file
 * does not exist there, or ends before. addr: as in the trace. */
void runner_write(struct runner *r, uint64_t addr, const uint8_t *bytes, size_t len_bytes);
/* Gives the decisions of this run so far. */
size_t runner_decisions(const struct runner *r, const struct run_decision **list);
/* Says how often the run touched a page with undecided or watched bytes; that is the cost of
 * laziness. */
uint64_t runner_faults(const struct runner *r);
/* Did a run reach a region of interest? */
bool runner_has_roi(const struct runner *r);
/* Did a command open, make or rename a PM file since the runner was made? Also true if that is
 * unknown. */
bool runner_has_opened(const struct runner *r);
/* Did a command ask for a PM file that does not exist? Also true if that is unknown. */
bool runner_has_missed(const struct runner *r);
/* Was something else at the recorded address of a PM file, so that the file was mapped elsewhere
 * and pointers in it are wrong? runner_is_moved(): in this run; runner_has_moved(): in any run. */
bool runner_is_moved(const struct runner *r);
bool runner_has_moved(const struct runner *r);
/* Did recovery try, in any run, to install a seccomp filter that would refuse calls of the runtime?
 * Such a filter is not installed. */
bool runner_has_sandbox(const struct runner *r);
/* Must a decision's read be judged? The annotations of the recovery program decide. */
bool runner_is_judged(const struct runner *r, const struct run_decision *d);
uint64_t runner_line(const struct runner *r, size_t line); /* the address of a line */
/* Has the run overwritten this byte of a line? Known while something of its page is undecided or
 * watched. */
bool runner_is_written(const struct runner *r, size_t line, uint32_t byte);
/* Has a command read this file, or asked for it, since runner_load()? */
bool runner_looked_at(const struct runner *r, uint32_t file);
/* Gives the length to which the lazy run cut this file, or from which on it punched out everything;
 * UINT64_MAX if it did not. */
uint64_t runner_cut(const struct runner *r, uint32_t file);
/* The bit sets of contents that are left now, in the form of runner_begin(). */
const uint64_t *runner_left(const struct runner *r);

/* Gives a hash of the set of places that the run wrote; 0: it wrote nothing. */
uint64_t runner_changes(const struct runner *r);
/* Gives a hash of the files' present contents, without the 8-byte words that contain the given
 * bytes. Two runs of the loaded failure point that leave the same contents have the same hash. */
uint64_t runner_content(const struct runner *r, uint64_t addr, uint64_t len_bytes);
struct run_gap {
	uint64_t addr, len_bytes;
};
/* Gives the hash of runner_content(), without the words of several ranges. */
uint64_t runner_content_beside(const struct runner *r, const struct run_gap *gaps, size_t n);

/* Writes the files, as a run with `left` and without laziness would have them, into a folder. The
 * names are FOLDER/NAME, or FOLDER/NUMBER-NAME if an earlier file has that name. Absent files are
 * not written. */
int runner_export(struct runner *r, const uint64_t *left, const char *folder, struct error *err);

/* Gives the executable objects in the address space of a command's server, as of its last answer,
 * for symbols. */
size_t runner_objects(const struct runner *r, const struct runner_command *c,
		      const struct trace_object **list);

/* Starts a background command, for servers; runner_background_end() stops it with SIGTERM, then
 * SIGKILL. */
int runner_background(struct runner *r, const struct runner_command *c, struct error *err);
bool runner_background_runs(struct runner *r);
void runner_background_end(struct runner *r, struct run_result *result);

#endif
