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

/* Passes a number: when sending, sends and gives n; when receiving, gives the received number. */
uint64_t wire_number(struct wire *w, uint64_t n);
/* Passes a string, which may be NULL: when sending, gives s; when receiving, gives the received
 * string. free() that. */
char *wire_string(struct wire *w, char *s);
/* Passes bytes: when sending, sends them; when receiving, overwrites them with what was
 * received. */
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
/* Receives a whole message. 1: there was one; 0: the file ended before it; -1: the file ended
 * inside the message. */
int wire_receive(struct wire *w, int fd);
/* Receives the message at *at of a file to which somebody still writes, and moves *at behind the
 * message. The file's own position stays. 1: there was a message; 0: it is not there yet, or not
 * whole. */
int wire_peek(struct wire *w, int fd, uint64_t *at);

#endif
