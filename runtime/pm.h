/* What PM is in this process: undecided lines, the images that contain them, the images' mappings,
 * and access to the program's memory, which may be in such a mapping. */
#ifndef RUNTIME_PM_H
#define RUNTIME_PM_H

#include "internal.h"

/* ---- undecided lines: lines.c ---- */

/* Takes the decisions for a read of these bytes of a file. is_one: it is a single access of at most
 * 8 bytes; otherwise each aligned word is decided separately. False: no line is there, so nothing
 * has changed. */
bool lines_read(uint32_t file, uint64_t from, uint64_t to, bool is_one);
/* Notes that the run has overwritten these bytes. */
void lines_written(uint32_t file, uint64_t from, uint64_t to);
/* Gives the first page at or after `from` that has an undecided line; `to` if there is none before
 * that. */
uint64_t lines_undecided_page(uint32_t file, uint64_t from, uint64_t to);
bool lines_any_undecided(void);
void lines_lock(void); /* also taken to change the window */
void lines_unlock(void);
/* Tells the window (window.c) which words of these bytes must not be read there. */
void lines_mark(uint32_t file, uint64_t from, uint64_t to);

/* ---- which file is which: images.c ---- */

void images_init(void);
const struct run_file *images_file(uint32_t i);
/* Gives the index in the region's files; -1: the descriptor is not of an image with lines. */
int images_find_fd(long fd);
/* Like images_find_fd(), but also finds files that recovery made in an image's place. */
int images_find_mapped(long fd);
/* Notes that the run cuts the file from was_bytes to `length` bytes, or removes it: bytes behind
 * `length` are lost. */
void images_note_cut(uint32_t file, uint64_t length, uint64_t was_bytes);
/* Notes that recovery opened an image, or a file that it has just made in an image's place. */
void images_note_open(int file, long fd, bool truncates);

/* Notes that this process has mapped the file at its recorded address. */
void images_note_home(uint32_t file);
bool images_was_home(uint32_t file);
/* Asks whether the file contains at least a part of this byte's page. If it does, and an access of
 * the page ends in SIGBUS nevertheless, the disk is full. */
bool images_has_page(uint32_t file, uint64_t offset);

/* ---- mappings of images: maps.c ---- */

struct pm_map {
	uint64_t start, end;
	uint64_t offset; /* of `start` in the file */
	uint32_t file;
	int prot; /* protection that the program asked for */
	bool is_private;
	bool was_guarded; /* some page is or was closed */
};

void maps_prepare(void); /* tests protection keys */
void maps_init(void);
extern int g_pkey; /* the protection key that closes pages; -1: mprotect closes them */

bool maps_any(void);
/* Copies the mapping that contains addr; false: none. */
bool maps_find(uint64_t addr, struct pm_map *m);
/* Copies the lowest mapping that overlaps [start, end); false: none does. */
bool maps_next(uint64_t start, uint64_t end, struct pm_map *found);
/* Sets what is mapped in a range, in one step, so that other threads always find the addresses
 * around it. maps_set(): from now on, the range is mapped as m says. maps_remove(): no image is
 * mapped there. */
void maps_set(const struct pm_map *m);
void maps_remove(uint64_t start, uint64_t end);
/* Closes those pages of a part of m that have undecided lines. */
void maps_guard(struct pm_map *m, uint64_t start, uint64_t end);
void maps_unguard(const struct pm_map *m, uint64_t start, uint64_t end);
/* Asks whether an access at addr ended in SIGBUS because the disk is full. */
bool maps_lacks_room(uint64_t addr);
/* Asks whether a mapping with closed pages overlaps the range. */
bool maps_touch(uint64_t addr, uint64_t len_bytes);
/* Applies a read or write of the program to lines; parts of the range outside of PM are ignored.
 * maps_read() returns what lines_read() returns. */
bool maps_read(uint64_t addr, uint64_t len_bytes);
void maps_written(uint64_t addr, uint64_t len_bytes);
/* Decides everything on the pages of these bytes that are private. Called before a write, because
 * the first write to a private page copies the page. */
void maps_read_private(uint64_t addr, uint64_t len_bytes);
/* Makes the page accessible if everything on it is decided. False: it stays closed. */
bool maps_release_page(uint64_t addr);
/* maps_open() lets the kernel and our own code access these bytes, until maps_close(). */
void maps_open(uint64_t addr, uint64_t len_bytes);
void maps_close(uint64_t addr, uint64_t len_bytes);
/* Lets the interrupted program access the memory of the list, in this thread, until
 * maps_close_program(). */
void maps_open_program(ucontext_t *uc, const struct access *list, uint32_t n);
void maps_close_program(ucontext_t *uc, const struct access *list, uint32_t n);
void maps_lock(void); /* held during fork */
void maps_unlock(void);
/* Takes a lock that is held during a system call that maps or unmaps, until the table is changed.
 * Otherwise another thread may get the same addresses in between. Taken before maps_lock(). */
void maps_begin_call(void);
void maps_end_call(void);

/* ---- the second mapping of an image, for detours and for instructions that our handlers do:
 * window.c ---- */

/* Makes the second mapping of the image, if there is none. The caller then marks words that detours
 * must not read there (lines_mark()), and calls window_show(). */
bool window_open(const struct pm_map *m, long fd);
/* Gives the distance from the access's address to the same bytes in the second mapping; 0: they
 * cannot be accessed there. */
uint64_t window_distance(const struct access *a);
void window_show(void);
void window_close(uint64_t start, uint64_t end);
bool window_is_open(void);
void window_mark(uint32_t file, uint64_t offset, bool is_marked);

/* ---- the program's memory: copy.c ---- */

/* Copies from the program's memory (rt_copy_in()) or to it (rt_copy_out()); bytes that are read are
 * decided. False: the memory is inaccessible. */
bool rt_copy_in(void *to, uint64_t from, size_t n);
bool rt_copy_out(uint64_t to, const void *from, size_t n);
/* Copies a NUL-terminated string. False: it is inaccessible or longer than the room. */
bool rt_copy_string(char *to, uint64_t from, size_t room);

#endif
