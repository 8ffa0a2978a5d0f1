/* Knows functions, such as memcpy, that fill the memory an argument points to. */
#ifndef SOURCE_WRITERS_H
#define SOURCE_WRITERS_H

int writer_argument(const char *name); /* which argument, from 0; -1 if it fills none */
int writer_source(const char *name);   /* which argument is copied there; -1 if none */
int writer_length(const char *name);   /* which argument is the number of bytes; -1 if unknown */

#endif
