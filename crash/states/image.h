/* The PM files as a crash at the present moment of a walk leaves them if every store is lost that
 * is not guaranteed durable: presence, size and content of each file. Memory grows only with the
 * pages that were ever not zero. */
#ifndef CRASH_STATES_IMAGE_H
#define CRASH_STATES_IMAGE_H

#include "model/model.h"
#include "trace/trace.h"
#include "util/vec.h"
#include "util/wire.h"

#define IMAGE_PAGE_BYTES 4096u
#define IMAGE_LINE_BYTES 64u

struct crash_file {
	char *path; /* the present path, absolute; NULL: no file has this number */
	/* `room` bytes, zero where nothing was written; a page needs memory only when it is
	 * touched */
	uint8_t *bytes;
	uint64_t room; /* the largest size of the file in the trace */
	uint64_t size_bytes;
	bool exists;
	uint64_t *touched; /* one bit per page that may be not zero */
	uint64_t *changed; /* one bit per page that was written since the runner last copied it */
	/* one bit per line that was written since image_forget_lines(); NULL if nobody called it */
	uint64_t *lines;
	uint64_t version; /* grows when presence, size or content changes */
};

struct crash_image {
	VEC(struct crash_file) files; /* index: file number; 0 is not used */
	uint64_t version;
};

/* Begins an image without contents. sizes: the largest size of each file, by number, from a first
 * pass over the trace. */
void image_init(struct crash_image *im, const uint64_t *sizes, size_t n);
void image_release(struct crash_image *im);
/* Applies FILE, CONTENT, SIZE, FALLOCATE, RENAME or UNLINK; other events change nothing. */
void image_event(struct crash_image *im, const struct trace_event *ev);
/* Is there a file that has a name? */
bool image_has_file(const struct crash_image *im);
/* Finds a file by its number; NULL if no file has it. */
struct crash_file *image_file(const struct crash_image *im, uint64_t file);
void image_write(struct crash_image *im, uint64_t addr, const uint8_t *bytes, uint32_t len_bytes);
void image_read(const struct crash_image *im, uint64_t addr, uint8_t *bytes, uint32_t len_bytes);
/* Starts noting which lines are written; forgets those noted before. */
void image_forget_lines(struct crash_image *im);
/* Sends what changed since image_forget_lines(), and presence, size and name of each file. An image
 * receives it that is as old as that call, or at any later moment up to this one. */
void image_pass_changes(struct crash_image *im, struct wire *w);
/* Gives the durable content as model_new() wants it: the model reads it from this image and writes
 * it there. */
struct model_image image_for_model(struct crash_image *im);

#endif
