/* PM in this process: lines, the images that hold them, their mappings, and the program's memory,
 * which may lie in one. */
#ifndef RUNTIME_PM_H
#define RUNTIME_PM_H

#include "internal.h"

/* ---- undecided lines: lines.c ---- */

/* Decides what reading these bytes of a file must decide. is_one: a single access of at most 8
 * bytes, else in aligned pieces of 8. False: there is no line there, so nothing has changed. */
bool lines_read(uint32_t file, uint64_t from, uint64_t to, bool is_one);
/* The run has overwritten these bytes. */
void lines_written(uint32_t file, uint64_t from, uint64_t to);
/* The first page at or after `from` with an undecided line; `to` if there is none before. */
uint64_t lines_undecided_page(uint32_t file, uint64_t from, uint64_t to);
bool lines_any_undecided(void);
void lines_lock(void); /* also for who changes the window */
void lines_unlock(void);
/* Tells the window (window.c) which words of these bytes are not to be read there. */
void lines_mark(uint32_t file, uint64_t from, uint64_t to);

/* ---- which file is which: images.c ---- */

void images_init(void);
const struct run_file *images_file(uint32_t i);
/* index in the region's files, -1: not an image with lines */
int images_find_fd(long fd);
/* the same, also for images that recovery made itself */
int images_find_mapped(long fd);
/* Recovery opened an image: it may be one that it has just made, or emptied. */
/* The run cuts the file to this length, which was so long before, or removes it: what was behind is
 * gone. */
void images_note_cut(uint32_t file, uint64_t length, uint64_t was_bytes);
void images_note_open(int file, long fd, bool truncates);

/* A file has been mapped where it was recorded, by this process. */
void images_note_home(uint32_t file);
bool images_was_home(uint32_t file);
/* Does the file reach to this byte's page? One that cannot be accessed all the same is one that
 * there is no room for. */
bool images_has_page(uint32_t file, uint64_t offset);

/* ---- mappings of images: maps.c ---- */

struct pm_map {
	uint64_t start, end;
	uint64_t offset; /* in the file */
	uint32_t file;
	int prot; /* what the program asked for */
	bool is_private;
	bool was_guarded; /* pages of it are or were inaccessible */
};

void maps_prepare(void); /* finds out about protection keys */
void maps_init(void);
extern int g_pkey; /* -1: by mprotect */

bool maps_any(void);
/* The mapping that holds addr, a copy of it; false: none. */
bool maps_find(uint64_t addr, struct pm_map *m);
/* The first mapping that overlaps, by address. */
bool maps_next(uint64_t start, uint64_t end, struct pm_map *found);
/* In one step, so that other threads find the addresses around it all the time: from now on, these
 * are mapped so; or they are mapped no more, or otherwise. */
void maps_set(const struct pm_map *m);
void maps_remove(uint64_t start, uint64_t end);
/* Closes the pages of a part of m that have undecided lines. */
void maps_guard(struct pm_map *m, uint64_t start, uint64_t end);
void maps_unguard(const struct pm_map *m, uint64_t start, uint64_t end);
/* An access of it ended in SIGBUS: was that for lack of room? */
bool maps_lacks_room(uint64_t addr);
/* Does any guarded mapping overlap? */
bool maps_touch(uint64_t addr, uint64_t len_bytes);
/* A read or write of the program's, in terms of lines; parts outside of PM are ignored.
 * maps_read(): as lines_read(). */
bool maps_read(uint64_t addr, uint64_t len_bytes);
void maps_written(uint64_t addr, uint64_t len_bytes);
/* Before a write: the first one to a private page copies it, and later decisions do not reach the
 * copy. */
void maps_read_private(uint64_t addr, uint64_t len_bytes);
/* Everything on the page is decided? Then it is accessible from now on. */
bool maps_release_page(uint64_t addr);
/* The kernel, or our own code, may access these bytes until they are closed. */
void maps_open(uint64_t addr, uint64_t len_bytes);
void maps_close(uint64_t addr, uint64_t len_bytes);
/* The same for this thread's interrupted program. */
void maps_open_program(ucontext_t *uc, const struct access *list, uint32_t n);
void maps_close_program(ucontext_t *uc, const struct access *list, uint32_t n);
void maps_lock(void); /* around fork */
void maps_unlock(void);
/* Around a system call that maps or unmaps, and what is noted of it: another thread may get the
 * same addresses between the two. Before maps_lock(). */
void maps_begin_call(void);
void maps_end_call(void);

/* ---- the second mapping, for detours, and for instructions that are done in our handlers:
 * window.c ---- */

/* Makes one, if none is open; the caller then marks what detours are not to read there
 * (lines_mark()), and shows it. */
bool window_open(const struct pm_map *m, long fd);
/* From an access to the same bytes there; 0: they are not there, or not for this. */
uint64_t window_distance(const struct access *a);
void window_show(void);
void window_close(uint64_t start, uint64_t end);
bool window_is_open(void);
void window_mark(uint32_t file, uint64_t offset, bool is_marked);

/* ---- the program's memory: copy.c ---- */

/* Copies from or to the program's memory, deciding what is read; false: it cannot be accessed. */
bool rt_copy_in(void *to, uint64_t from, size_t n);
bool rt_copy_out(uint64_t to, const void *from, size_t n);
/* A NUL-terminated string; false: bad address or longer than room. */
bool rt_copy_string(char *to, uint64_t from, size_t room);

#endif
