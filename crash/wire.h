/* Numbers and strings through a pipe, from a worker to its parent. */
#ifndef CRASH_WIRE_H
#define CRASH_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A message under construction, or one being taken apart. Zero-initialised is empty. */
struct wire {
	uint8_t *bytes;
	size_t n, room, at;
	bool is_bad; /* something was read that is not there */
};

void wire_number(struct wire *w, uint64_t n);
void wire_string(struct wire *w, const char *s); /* NULL stays NULL */
uint64_t wire_get_number(struct wire *w);
char *wire_get_string(struct wire *w); /* free() it */
void wire_release(struct wire *w);

/* Whole messages; -1: the pipe is broken. */
int wire_send(const struct wire *w, int fd);
/* 1: a message; 0: the end; -1: broken off inside one. */
int wire_receive(struct wire *w, int fd);

#endif
