/* Files that the program wrote or renamed beside its pool, and that crash states do not follow:
 * what each held at which moment, as far as the trace has kept it. */
#ifndef CRASH_STATES_BESIDE_H
#define CRASH_STATES_BESIDE_H

#include "crash/states/image.h"

#define BESIDE_MAX 8u /* files that are looked at */

enum beside_what { BESIDE_UNKNOWN, BESIDE_ABSENT, BESIDE_CONTENT };

struct beside_version {
	uint64_t seq; /* from which event on; 0: before the recording */
	enum beside_what what;
	uint64_t len_bytes; /* BESIDE_CONTENT */
	uint8_t *bytes;
};

struct beside_file {
	char *path;
	bool is_written; /* or renamed */
	VEC(struct beside_version) versions;
};

struct beside {
	VEC(struct beside_file) files;
};

/* Reads the trace once, if it has such files. paths: those of PM files, which are none, ended by
 * NULL; or NULL. */
void beside_read(struct beside *b, const struct trace *t, const char *const *paths);
void beside_release(struct beside *b);

/* Moments as of which recovery can be shown a file. */
enum beside_time { BESIDE_NEVER, BESIDE_BEFORE, BESIDE_CRASH, BESIDE_END, BESIDE_TIMES };

/* How the file was then, for a crash before the event seq. */
const struct beside_version *beside_at(const struct beside_file *f, enum beside_time time,
				       uint64_t seq);

/* A copy of an image that has the files, too, each as this version; its contents are those of
 * both. */
void beside_image(struct crash_image *with, const struct crash_image *im, const struct beside *b,
		  const struct beside_version *const *versions);
void beside_image_release(struct crash_image *with, const struct crash_image *im);

#endif
