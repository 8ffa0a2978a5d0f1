/* Files that the program wrote or renamed beside its pool. Crash states do not include them; this
 * lists what each of them contained when, as far as the trace kept it. */
#ifndef CRASH_STATES_BESIDE_H
#define CRASH_STATES_BESIDE_H

#include "crash/states/image.h"

#define BESIDE_MAX 8u /* files that are followed */

enum beside_what { BESIDE_UNKNOWN, BESIDE_ABSENT, BESIDE_CONTENT };

struct beside_version {
	uint64_t seq; /* valid from this event on; 0: since before the recording */
	enum beside_what what;
	uint64_t len_bytes; /* if what is BESIDE_CONTENT */
	uint8_t *bytes;
};

struct beside_file {
	char *path;
	bool is_written; /* written or renamed */
	VEC(struct beside_version) versions;
};

struct beside {
	VEC(struct beside_file) files;
};

/* Reads the contents of files beside the pool; that takes one pass over the trace, if it has such
 * files. paths: the paths of PM files, which are skipped, ended by NULL; or NULL. */
void beside_read(struct beside *b, const struct trace *t, const char *const *paths);
void beside_release(struct beside *b);

/* Moments whose version of a file recovery can be given. */
enum beside_time { BESIDE_NEVER, BESIDE_BEFORE, BESIDE_CRASH, BESIDE_END, BESIDE_TIMES };

/* Gives the version of the file at that moment, for a crash before event seq. */
const struct beside_version *beside_at(const struct beside_file *f, enum beside_time time,
				       uint64_t seq);

/* Makes a copy of an image that also has the files beside the pool, one version of each. The copy
 * shares contents with the image and with b. */
void beside_image(struct crash_image *with, const struct crash_image *im, const struct beside *b,
		  const struct beside_version *const *versions);
void beside_image_release(struct crash_image *with, const struct crash_image *im);

#endif
