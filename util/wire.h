/* Numbers, strings and bytes through a file: from a worker to its parent, from one machine to
 * another. A function that passes the fields of a struct, one after the other, serves both sides:
 * it sends them or fills them, whatever the message is for. */
#ifndef UTIL_WIRE_H
#define UTIL_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/map.h"

/* A message under construction, or one being taken apart. Zero-initialised is empty. */
struct wire {
	uint8_t *bytes;
	size_t n, room, at;
	bool is_received;
	bool is_bad; /* something was read that is not there */
};

uint64_t wire_number(struct wire *w, uint64_t n); /* gives n, or what was received */
/* the same; what was received is to be freed; NULL stays NULL */
char *wire_string(struct wire *w, char *s);
/* as they are; bytes is not changed when they are sent */
void wire_bytes(struct wire *w, void *bytes, size_t len_bytes);
void wire_release(struct wire *w);

/* A number of any type. */
#define wire_pass(w, lvalue) ((lvalue) = (__typeof__(lvalue))wire_number((w), (uint64_t)(lvalue)))
/* A VEC whose elements are passed by this function. */
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
/* A set of numbers: the keys of a map. What is received is added. */
void wire_pass_set(struct wire *w, struct map *set);

/* Whole messages; -1: the pipe is broken. */
int wire_send(const struct wire *w, int fd);
/* 1: a message; 0: the end; -1: broken off inside one. */
int wire_receive(struct wire *w, int fd);

#endif
