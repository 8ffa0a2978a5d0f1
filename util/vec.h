/* A growable array of any type. Zero-initialised is empty.
 *
 *	VEC(int) v = { 0 };
 *	*vec_add(&v) = 7;
 *	for (size_t i = 0; i < v.n; i++) use(v.at[i]);
 *	vec_release(&v);
 */
#ifndef UTIL_VEC_H
#define UTIL_VEC_H

#include <stdlib.h>

#include "util/alloc.h"

#define VEC(type) \
	struct { \
		type *at; \
		size_t n, room; \
	}

/* Makes room for want elements in all. */
#define vec_reserve(v, want) \
	do { \
		size_t want_ = (want); \
		if (want_ > (v)->room) { \
			(v)->room = want_ > 2 * (v)->room ? want_ : 2 * (v)->room; \
			if ((v)->room < 8) \
				(v)->room = 8; \
			(v)->at = xrealloc((v)->at, (v)->room, sizeof *(v)->at); \
		} \
	} while (0)

/* Adds an uninitialised element and gives its address, which is valid until the next vec_add(). */
#define vec_add(v) \
	({ \
		vec_reserve(v, (v)->n + 1); \
		&(v)->at[(v)->n++]; \
	})

#define vec_release(v) \
	do { \
		free((v)->at); \
		(v)->at = NULL; \
		(v)->n = (v)->room = 0; \
	} while (0)

#endif
