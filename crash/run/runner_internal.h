/* Declares what the files of the runner share:
 *
 *   runner.c        making and freeing a runner, beginning a run
 *   run_command.c   one command: starts it, waits, stops it, reports
 *   image_files.c   the image files: makes them, restores them; pages.c: their contents
 *   region.c        the memory shared with the runtime
 *   room.c          which folder images are in
 *   limits.c        what a run may use
 *   unlimited_watch.c  whether a run without limits uses too much
 *   command.c       command lines: splitting, {}, {N}, {op}; remaining_input.c: {rest:FILE}
 *   program.c       how a program can be run: forked, preloaded, or only executed
 *   server.c        starts servers and talks to them; spawn.c: their processes
 *   changes.c       what a run wrote
 *   capture.c       what a command prints
 *   guard.c         the process that cleans up after us, whatever happens */
#ifndef CRASH_RUN_RUNNER_INTERNAL_H
#define CRASH_RUN_RUNNER_INTERNAL_H

#include <sys/stat.h>
#include <sys/types.h>

#include "crash/states/image.h"
#include "crash/run/runner.h"
#include "crash/states/states.h"
#include "util/tempdir.h"
#include "util/vec.h"

/* ---- image_files.c, pages.c ---- */

/* A PM file's image. Some pages have data although the crash image has none there: a run read or
 * wrote them, or they have undecided lines. `zero` has a bit for each of these. So a page is
 * expected to have data exactly if it is in crash_file's touched or in `zero`. As long as the
 * kernel counts the same number of pages, none must be searched. */
struct image_file {
	uint32_t number; /* in the trace; 0: a path that no file has at present */
	char *path;      /* the file's own path */
	const char *name;
	uint32_t folder; /* index in folders */
	char image[sizeof((struct run_file *)0)->image];
	int fd; /* -1: it does not exist */
	struct stat st;
	uint8_t *map;
	uint64_t map_bytes, size_bytes;
	uint64_t *zero, npages; /* one bit per page; npages is their number */
	uint64_t nzero;         /* number of bits that are set in zero */
	uint64_t blocks;        /* st_blocks when it was last restored */
	mode_t mode;
	bool is_in_folder; /* of runner_load_folder(): somebody else makes it */
};

struct image_folder {
	char *path;     /* the user's folder */
	struct stat st; /* st_ino 0: the folder does not exist any more */
	char *image;
};

struct image_files {
	char *folder;
	VEC(struct image_file) files; /* by number, then those without a number */
	VEC(struct image_folder) folders;
	uint64_t generation; /* grows when the list changes */
};

void image_files_release(struct image_files *s);
/* Fills the list with the files of the image im, and with those of `paths` that im does not have.
 * True if the list changed. */
bool image_files_list(struct image_files *s, const struct crash_image *im,
		      const char *const *paths);
/* Makes the list files of a folder. */
void image_files_list_folder(struct image_files *s, const char *folder,
			     const struct runner_folder_file *files, size_t n);
/* Finds the index of a PM file in s->files by its number; -1: it has no image. */
int image_files_find(const struct image_files *s, uint32_t number);
/* Writes into a file, if it is there and has these bytes. addr: as in the trace. */
void image_files_write(struct image_files *s, uint64_t addr, const uint8_t *bytes,
		       size_t len_bytes);
/* Restores presence, size and contents of all files; each undecided line gets its newest content
 * that is left. */
int image_files_restore(struct image_files *s, const struct crash_image *im,
			const struct state_set *set, const uint64_t *left, struct error *err);
int image_files_export(const struct image_files *s, const struct crash_image *im,
		       const struct state_set *set, const uint64_t *left, const char *folder,
		       struct error *err);

/* Restores the contents of a file, which is open, mapped, and has the right size. */
int pages_restore(struct image_file *f, const struct crash_file *cf, struct error *err);
/* Notes that a page exists and stays. */
void page_expect(struct image_file *f, uint64_t page);
bool page_is_expected(const struct image_file *f, const struct crash_file *cf, uint64_t page);
/* Finds the next pages with data after page *end; false if the first npages have none. */
bool pages_next_data(const struct image_file *f, uint64_t npages, uint64_t *first, uint64_t *end);
/* Gives the content that a page must have; it is in buf if it is not in cf as a whole. */
const uint8_t *page_want(const struct crash_file *cf, uint64_t page, uint8_t *buf);
/* Gives the newest content of line i that is left; NULL: none is. */
const uint8_t *line_newest(const struct state_set *set, size_t i, const uint64_t *left);

/* ---- region.c ---- */

struct region {
	char *path;
	int fd;
	struct run_region *at;
	size_t len_bytes; /* length of the mapping */
	VEC(struct run_mapping) mappings;
	uint64_t *left; /* in the region */
	size_t nwords;
};

int region_init(struct region *g, const char *folder, struct error *err);
void region_release(struct region *g);
/* Builds the region for a new failure point. */
int region_load(struct region *g, const struct image_files *images, const struct state_set *set,
		struct error *err);
void region_begin(struct region *g, const struct state_set *set, const uint64_t *left, bool is_lazy,
		  enum runner_watch watch);
/* Notes the inodes of the images in this run. */
void region_note_images(struct region *g, const struct image_files *images);
void region_begin_command(struct region *g);

/* ---- room.c ---- */

/* Gives a folder with so much space for images, or the one with the most. */
const char *room_choose(uint64_t need_bytes);
uint64_t room_bytes(const char *folder);

/* ---- limits.c ---- */

void limits_set(struct runner *r);

/* ---- unlimited_watch.c ---- */

/* excess_begin() is called before a run without limits, excess_is_fine() every few milliseconds
 * during the run. False if the run uses too much; r->exceeded says of what. */
void excess_begin(struct runner *r);
bool excess_is_fine(struct runner *r);

/* ---- capture.c ---- */

/* What came out of a pipe: beginning, end, length, and a hash of everything. */
struct capture {
	int fd;
	size_t half;       /* size of head and of tail */
	char *head, *tail; /* tail is a ring */
	uint64_t len;
	uint64_t hash, word; /* word: bytes that are not hashed yet */
	char *text;
};

int capture_init(struct capture *c, size_t room, int *write_end, struct error *err);
void capture_release(struct capture *c);
void capture_clear(struct capture *c); /* forgets everything */
void capture_drain(struct capture *c); /* reads what is there now */
const char *capture_text(struct capture *c, size_t *len);
uint64_t capture_hash(const struct capture *c);

/* ---- command.c ---- */

/* The texts for {} and {N}, which exist even if the file does not, and for {op} and {rest:FILE}. */
struct pool_paths {
	const char *pool; /* NULL: the first file that exists */
	char **numbered;  /* by number; NULL: no such file */
	size_t n;
	uint64_t operation;
	const char *folder;        /* where rest_make() makes its files */
	const char *dir;           /* of runner_load_folder(); NULL: there is none */
	const char *const *places; /* in it, for {dir}, {dir2}… */
	size_t nplaces;
};
/* Gives the command with {} and {N} replaced by the files' own paths, or by the paths of their
 * images. NULL: there is no such file. free() it. */
char **command_expand(const struct runner_command *c, const struct image_files *images,
		      const struct pool_paths *paths, bool is_image, struct error *err);
bool argv_equal(char *const a[], char *const b[]);
char **argv_copy(char *const argv[]); /* one block of memory */

/* ---- remaining_input.c ---- */

/* Makes a file in the folder with the lines of a file from this line on (1: all), and gives its
 * path; free() it. NULL: err says why. */
char *rest_make(const char *folder, const char *file, uint64_t line, struct error *err);

/* ---- program.c ---- */

enum program_mode {
	PROGRAM_FORK,      /* preloaded, and forked before main() */
	PROGRAM_PRELOADED, /* preloaded, and executed anew for each run */
	PROGRAM_PLAIN,     /* executed on whole images */
};

/* Finds the best mode. why: why it is not a better one, as words that follow "it"; NULL for
 * PROGRAM_FORK. */
enum program_mode program_probe(const char *path, const char **why);

/* ---- spawn.c, server.c ---- */

struct spawn {
	const char *path;
	char **argv, **envp;
	enum program_mode mode;
	const char *input;
	int control, out, err; /* the server's ends */
	const struct run_region *region;
};

/* Starts a server: the program itself with the runtime in it, or a process of pmend that executes
 * the program. */
pid_t spawn_server(const struct spawn *s);
/* Gives the environment for a program in this mode. can_bind: all its symbols can be bound at the
 * start. Both the result and *libraries are one block each; the result borrows the strings of
 * `changes`; free() the result, then *libraries. */
char **spawn_env(const struct runner *r, const char *program, enum program_mode mode, bool can_bind,
		 char **libraries);

struct server {
	char **command, **argv; /* command as the user wrote it, argv with placeholders replaced */
	char *program;          /* path of the program */
	enum program_mode mode;
	bool can_bind; /* cleared if it did not start that way */
	const char *why_plain;
	pid_t pid;
	int control;
	struct capture out, err;
	bool is_busy;
	uint64_t generation; /* generation of the image files when argv was made */
	uint64_t operation;  /* operation when argv was made */
	VEC(struct trace_object) objects;
};

/* Gives an idle server for the command; starts one if there is none. NULL: err says why. */
struct server *server_get(struct runner *r, const struct runner_command *c, struct error *err);
void server_free(struct server *s);
/* Stops the server and waits for it; kills it if it does not end by itself. Returns its wait
 * status. */
int server_reap(struct server *s);
/* Starts a run. -1: the server is dead. */
int server_start(struct server *s, struct error *err);
/* Waits for the end of a run. 0: it did not end in time. -1 with err: the server died, or could not
 * start the program. */
int server_wait(struct runner *r, struct server *s, uint32_t timeout_ms, struct run_message *end,
		struct error *err);
void server_signal(struct server *s, int signal_number);

/* ---- guard.c ---- */

/* Forks the guardian, which makes the folder and lives until *alive is closed. folder: the name,
 * ending with XXXXXX, which is filled in. */
pid_t guard_start(char *folder, int *alive, struct error *err);
/* Kills all processes that have the folder's region in their environment, and their descendants. */
void guard_kill(const char *folder, uint32_t grace_ms);

/* ---- */

struct runner {
	struct runner_options o; /* strings are owned */
	char *runtime, *stdin_path, *pool, **paths;
	struct pool_paths pool_paths;          /* points to pool; the rest is owned */
	char *preload, *region_env, *tunables; /* "NAME=value" */
	/* of the loaded failure point, with none lifted; 0: no limit */
	uint64_t limits[RUNNER_LIMITS];
	unsigned lifted;
	bool is_clean_lift;
	/* a run without limits is stopped if it uses more memory, or leaves less space for files */
	uint64_t excess_bytes, excess_room_bytes;
	int exceeded;         /* enum runner_limit of the last run; -1: none */
	uint64_t deadline_ns; /* 0: none */
	char *folder;
	char *dir;                          /* what {dir} stands for; NULL: nothing */
	const struct runner_folder *loaded; /* runner_load_folder(); NULL: images */
	pid_t guardian;
	int alive; /* the guardian waits for the end of this pipe */
	struct image_files images;
	struct region region;
	const struct crash_image *image;
	const struct state_set *set;
	VEC(struct server *) servers;
	struct server *background;
	uint64_t longest_us; /* of commands that ended by themselves */
	bool is_brief;
	/* why no program can be watched on this machine, so that only whole images are left; NULL
	 * if programs can */
	char *why_blind;
	bool is_lazy;
	bool has_no_stacks;
	enum runner_watch watch;
	bool has_opened; /* by a program without the runtime; also set if that is unknown */
	bool has_missed; /* perhaps, by a program without the runtime */
	int opens;       /* inotify descriptor while such a program runs; -1: none */
	/* runner_load() or runner_begin() failed; the next command reports it */
	bool has_failed;
	struct error failure;
	char unsound[200];
};

static inline bool runner_is_cancelled(const struct runner *r)
{
	return (r->o.is_cancelled && __atomic_load_n(r->o.is_cancelled, __ATOMIC_RELAXED)) ||
	       (r->o.wants_cancel && r->o.wants_cancel(r->o.cancel_arg));
}

#endif
