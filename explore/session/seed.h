/* Reads seeds and templates: inputs with which an exploration begins. */
#ifndef EXPLORE_SESSION_SEED_H
#define EXPLORE_SESSION_SEED_H

#include <stdbool.h>
#include <stdint.h>

#include "util/error.h"
#include "util/vec.h"

struct seed {
	VEC(uint8_t) bytes;
	VEC(bool) is_fixed; /* of a template: the byte must keep its value; else empty */
};

int seed_read(struct seed *s, const char *path, struct error *err);
/* Reads a template: "strings", 2-digit hexadecimal bytes, and holes: ? is one byte, ?8 are eight. #
 * begins a comment. Strings may contain \n \r \t \0 \\ \" and \xHH. */
int seed_read_template(struct seed *s, const char *path, struct error *err);
void seed_release(struct seed *s);

#endif
