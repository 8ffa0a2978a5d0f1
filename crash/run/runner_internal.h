/* Inside the runner.
 *
 *   runner.c    its life, and what a run begins with
 *   run_command.c  one command: started, waited for, ended, told
 *   image_files.c    the image files: made, and put back after a run; pages.c: their contents
 *   region.c    the memory shared with the runtime
 *   room.c      where images go
 *   limits.c    what a run may take; excess.c: whether one without limits takes too much
 *   command.c   command lines: splitting, {}, {N}, {op}; rest.c: {rest:FILE}
 *   program.c   how a program can be run: forked, preloaded, or only executed
 *   server.c    starting a server, talking to it; spawn.c: the processes themselves
 *   changes.c   what a run wrote
 *   capture.c   what a command prints
 *   guard.c     the process that cleans up after us, whatever happens */
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

/* A PM file's image. Pages of the image that hold data though the crash image has none there (a run
 * read or wrote them, or they have undecided lines) are remembered in `zero`, so that a page is
 * expected to hold data exactly if it is in crash_file's touched or in zero: as long as the kernel
 * counts as many, there is nothing to look for. */
struct image_file {
	uint32_t number; /* in the trace; 0: a path that no file has at present */
	char *path;      /* its own */
	const char *name;
	uint32_t folder; /* index in folders */
	char image[sizeof((struct run_file *)0)->image];
	int fd; /* -1: not there */
	struct stat st;
	uint8_t *map;
	uint64_t map_bytes, size_bytes;
	uint64_t *zero, npages; /* bits for npages */
	uint64_t nzero;         /* of them, those that only runs touched */
	uint64_t blocks;        /* when it was last put back */
	mode_t mode;
	bool is_in_folder; /* of runner_load_folder(): somebody else makes it */
};

struct image_folder {
	char *path;     /* the user's */
	struct stat st; /* st_ino 0: it is gone */
	char *image;
};

struct image_files {
	char *folder;
	VEC(struct image_file) files; /* by number, then those without one */
	VEC(struct image_folder) folders;
	uint64_t generation; /* grows when the list changes */
};

void image_files_release(struct image_files *s);
/* Makes the list of files that of im, and of the paths besides. True if it changed. */
bool image_files_list(struct image_files *s, const struct crash_image *im,
		      const char *const *paths);
/* Makes the list files of a folder. */
void image_files_list_folder(struct image_files *s, const char *folder,
			     const struct runner_folder_file *files, size_t n);
/* Index in files, or -1. */
int image_files_find(const struct image_files *s, uint32_t number);
/* Puts back presence, size and contents of everything, then each line's newest content left. */
int image_files_restore(struct image_files *s, const struct crash_image *im,
			const struct state_set *set, const uint64_t *left, struct error *err);
int image_files_export(const struct image_files *s, const struct crash_image *im,
		       const struct state_set *set, const uint64_t *left, const char *folder,
		       struct error *err);

/* f is open, mapped, and has the size that it is to have. */
int pages_restore(struct image_file *f, const struct crash_file *cf, struct error *err);
/* A page has come into being, and is to stay. */
void page_expect(struct image_file *f, uint64_t page);
bool page_is_expected(const struct image_file *f, const struct crash_file *cf, uint64_t page);
/* The next pages that hold data, after page *end; false: there are none among the first npages. */
bool pages_next_data(const struct image_file *f, uint64_t npages, uint64_t *first, uint64_t *end);
/* The content of a page; in buf if it is not simply in cf. */
const uint8_t *page_want(const struct crash_file *cf, uint64_t page, uint8_t *buf);
/* The newest content of line i that is left; NULL: none is. */
const uint8_t *line_newest(const struct state_set *set, size_t i, const uint64_t *left);

/* ---- region.c ---- */

struct region {
	char *path;
	int fd;
	struct run_region *at;
	size_t len_bytes; /* of the mapping */
	VEC(struct run_mapping) mappings;
	uint64_t *left; /* in the region */
	size_t nwords;
};

int region_init(struct region *g, const char *folder, struct error *err);
void region_release(struct region *g);
/* Lays it out anew. */
int region_load(struct region *g, const struct image_files *images, const struct state_set *set,
		struct error *err);
void region_begin(struct region *g, const struct state_set *set, const uint64_t *left, bool is_lazy,
		  enum runner_watch watch);
/* Which inodes the images are in this run. */
void region_note_images(struct region *g, const struct image_files *images);
void region_begin_command(struct region *g);

/* ---- room.c ---- */

/* A folder with so much room for images, or the one with the most. */
const char *room_choose(uint64_t need_bytes);
uint64_t room_bytes(const char *folder);

/* ---- limits.c ---- */

void limits_set(struct runner *r);

/* ---- excess.c ---- */

/* Before a run without limits, and every few milliseconds while it lasts: false if it takes too
 * much, which r->exceeded then says. */
void excess_begin(struct runner *r);
bool excess_is_fine(struct runner *r);

/* ---- capture.c ---- */

/* What comes out of a pipe: its beginning, its end, its length, a hash of all. */
struct capture {
	int fd;
	size_t half;       /* room of each: */
	char *head, *tail; /* tail is a ring */
	uint64_t len;
	uint64_t hash, word; /* word: bytes not yet hashed */
	char *text;
};

int capture_init(struct capture *c, size_t room, int *write_end, struct error *err);
void capture_release(struct capture *c);
void capture_clear(struct capture *c); /* forgets what came so far */
void capture_drain(struct capture *c); /* takes what is there now */
const char *capture_text(struct capture *c, size_t *len);
uint64_t capture_hash(const struct capture *c);

/* ---- command.c ---- */

/* What {} and {N} stand for, also where the file is not there, and {op} and {rest:FILE}. */
struct pool_paths {
	const char *pool; /* NULL: the first file that is there */
	char **numbered;  /* by number, NULL where there is none */
	size_t n;
	uint64_t operation;
	const char *folder; /* where rest_make() puts its files */
	const char *dir;    /* of runner_load_folder(); NULL: there is none */
};
/* The command with {} and {N} replaced: by the files' own paths, or by their images'. NULL: there
 * is no such file. free() it. */
char **command_expand(const struct runner_command *c, const struct image_files *images,
		      const struct pool_paths *paths, bool is_image, struct error *err);
bool argv_equal(char *const a[], char *const b[]);
char **argv_copy(char *const argv[]); /* one block */

/* ---- rest.c ---- */

/* Makes a file in the folder with the lines of a file from this one on (1: all of them), and gives
 * its path; free() it. NULL: err says why. */
char *rest_make(const char *folder, const char *file, uint64_t line, struct error *err);

/* ---- program.c ---- */

enum program_mode {
	PROGRAM_FORK,      /* preloaded, forked before main() */
	PROGRAM_PRELOADED, /* preloaded, executed anew for each run */
	PROGRAM_PLAIN,     /* executed on whole images */
};

/* why: why it is not better, in words that go after "it"; NULL for PROGRAM_FORK. */
enum program_mode program_probe(const char *path, const char **why);

/* ---- spawn.c, server.c ---- */

struct spawn {
	const char *path;
	char **argv, **envp;
	enum program_mode mode;
	const char *input;
	int control, out, err; /* of the server */
	const struct run_region *region;
};

/* Starts a server: the program itself with the runtime in it, or a process of ours that executes
 * it. */
pid_t spawn_server(const struct spawn *s);
/* For a program run in this mode; can_bind: all its symbols can be bound at the start. Free with
 * free(): one block, which borrows changes' strings; and *libraries after it. */
char **spawn_env(const struct runner *r, const char *program, enum program_mode mode, bool can_bind,
		 char **libraries);

struct server {
	char **command, **argv; /* as the user wrote it; expanded */
	char *program;          /* path */
	enum program_mode mode;
	bool can_bind; /* cleared when it did not start */
	const char *why_plain;
	pid_t pid;
	int control;
	struct capture out, err;
	bool is_busy;
	uint64_t generation; /* of the images, when argv was made */
	uint64_t operation;  /* the same */
	VEC(struct trace_object) objects;
};

/* An idle server for the command; starts one if there is none. NULL: err says why. */
struct server *server_get(struct runner *r, const struct runner_command *c, struct error *err);
void server_free(struct server *s);
/* Ends the server and waits for it: killed when it does not end by itself. Returns its wait
 * status. */
int server_reap(struct server *s);
/* Starts a run. -1: the server is dead. */
int server_start(struct server *s, struct error *err);
/* Waits for its end. 0: it did not end in time. -1 with err: the server died, or it could not start
 * the program. */
int server_wait(struct runner *r, struct server *s, uint32_t timeout_ms, struct run_message *end,
		struct error *err);
void server_signal(struct server *s, int signal_number);

/* ---- guard.c ---- */

/* Forks the guardian of a new folder, which lives until *alive is closed. folder: its name, ending
 * with XXXXXX, which are filled in. */
pid_t guard_start(char *folder, int *alive, struct error *err);
/* Kills all processes that have the folder's region in their environment, and their descendants. */
void guard_kill(const char *folder, uint32_t grace_ms);

/* ---- */

struct runner {
	struct runner_options o; /* strings are our own */
	char *runtime, *stdin_path, *pool, **paths;
	struct pool_paths pool_paths;          /* points to pool; the rest is owned */
	char *preload, *region_env, *tunables; /* "NAME=value" */
	uint64_t limits[RUNNER_LIMITS];        /* of what is loaded, none lifted; 0: none */
	unsigned lifted;
	bool is_clean_lift;
	/* a run without limits is ended when it has more memory, or leaves less room for files */
	uint64_t excess_bytes, excess_room_bytes;
	int exceeded;         /* enum runner_limit of the last run; -1: none */
	uint64_t deadline_ns; /* 0: none */
	char *folder;
	char *dir;                          /* what {dir} stands for; NULL: nothing */
	const struct runner_folder *loaded; /* runner_load_folder(); NULL: images */
	pid_t guardian;
	int alive; /* the guardian waits for its end */
	struct image_files images;
	struct region region;
	const struct crash_image *image;
	const struct state_set *set;
	VEC(struct server *) servers;
	struct server *background;
	uint64_t longest_us; /* of commands that ended by themselves */
	/* no program can be watched on this machine, so that whole images are all that is left;
	 * NULL: they can */
	char *why_blind;
	bool is_lazy;
	bool has_no_stacks;
	enum runner_watch watch;
	bool has_opened; /* by a program without the runtime; or that cannot be told */
	bool has_missed; /* maybe, by such a program */
	int opens;       /* while such a program runs, -1: none does */
	/* what runner_load() or runner_begin() could not do, told by the next command */
	bool has_failed;
	struct error failure;
	char unsound[200];
};

static inline bool runner_is_cancelled(const struct runner *r)
{
	return r->o.is_cancelled && __atomic_load_n(r->o.is_cancelled, __ATOMIC_RELAXED);
}

#endif
