/* Messages of numbers, strings and bytes, from a worker to its parent or from one machine to
 * another. One function serves both directions: it passes the fields of a struct one after the
 * other, and each call sends the field or fills it, as is_received says:
 *
 *	static void point_pass(struct wire *w, struct point *p)
 *	{
 *		wire_pass(w, p->x);
 *		p->name = wire_string(w, p->name);
 *	}
 */
#ifndef UTIL_WIRE_H
#define UTIL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/map.h"

/* A message that is being built or taken apart. Zero-initialised is empty. */
struct wire {
	uint8_t *bytes;
	size_t n, room, at;
	bool is_received;
	bool is_bad; /* the message ended too early; what was read is 0 or NULL */
};

/* gives n when sending, else the number received */
uint64_t wire_number(struct wire *w, uint64_t n);
/* the same for a string, NULL included; free() what was received */
char *wire_string(struct wire *w, char *s);
/* sends the bytes, or overwrites them with what was received */
void wire_bytes(struct wire *w, void *bytes, size_t len_bytes);
void wire_release(struct wire *w);

/* Passes a variable of any integer type. */
#define wire_pass(w, lvalue) ((lvalue) = (__typeof__(lvalue))wire_number((w), (uint64_t)(lvalue)))
/* Passes a VEC; pass_one(w, &element) passes each element. */
#define wire_pass_vec(w, v, pass_one) \
	do { \
		for (uint64_t i_ = 0, n_ = wire_number((w), (v)->n); i_ < n_ && !(w)->is_bad; \
		     i_++) { \
			if ((w)->is_received) \
				*vec_add(v) = (__typeof__(*(v)->at)){ 0 }; \
			pass_one((w), &(v)->at[i_]); \
		} \
	} while (0)
void wire_pass_number(struct wire *w, uint64_t *n);
/* Passes a set of numbers, the keys of a map. Adds those received to the set. */
void wire_pass_set(struct wire *w, struct map *set);

/* Sends a whole message; -1 if the pipe is broken. */
int wire_send(const struct wire *w, int fd);
/* Receives one: 1: a message; 0: the end of the file; -1: it broke off inside a message. */
int wire_receive(struct wire *w, int fd);
/* Looks at the message at *at of a file that somebody still writes to, and moves *at behind it. The
 * file's position stays. 1: a message; 0: it is not there yet, or not whole. */
int wire_peek(struct wire *w, int fd, uint64_t *at);

#endif
