/* The PM files as a crash at the present moment of a walk would leave them if every store that is
 * not guaranteed durable were lost: presence, size and content of each. Sparse: memory grows with
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
	char *path; /* the file's own, absolute; NULL: no such number */
	/* `room` bytes, zero where nothing was written; pages come into being when touched */
	uint8_t *bytes;
	uint64_t room; /* the largest size it ever has in the trace */
	uint64_t size_bytes;
	bool exists;
	uint64_t *touched; /* bit for each page that may not be all zero */
	uint64_t *changed; /* bit for each page that was written since the runner took it last */
	/* bit for each line that was written since image_forget_lines(); NULL: nobody asks */
	uint64_t *lines;
	uint64_t version; /* grows with presence, size, and content */
};

struct crash_image {
	VEC(struct crash_file) files; /* by number; 0 is not used */
	uint64_t version;
};

/* sizes: the largest size of each file by number, from a first pass over the trace. */
void image_init(struct crash_image *im, const uint64_t *sizes, size_t n);
void image_release(struct crash_image *im);
/* FILE, CONTENT, SIZE, FALLOCATE, RENAME, UNLINK; others change nothing. */
void image_event(struct crash_image *im, const struct trace_event *ev);
/* there is one with a name, for whoever looks for it */
bool image_has_file(const struct crash_image *im);
/* NULL if there is no such number */
struct crash_file *image_file(const struct crash_image *im, uint64_t file);
void image_write(struct crash_image *im, uint64_t addr, const uint8_t *bytes, uint32_t len_bytes);
void image_read(const struct crash_image *im, uint64_t addr, uint8_t *bytes, uint32_t len_bytes);
/* From now on, which lines are written is noted; from the next call on, anew. */
void image_forget_lines(struct crash_image *im);
/* What changed since image_forget_lines(), and presence, size and name of each file. Received: by
 * the image of that moment, or of a later one that is not beyond this one. */
void image_pass_changes(struct crash_image *im, struct wire *w);
/* For model_new(): durable content comes from here and goes here. */
struct model_image image_for_model(struct crash_image *im);

#endif
