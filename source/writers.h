/* Functions that fill the memory that an argument points to. */
#ifndef SOURCE_WRITERS_H
#define SOURCE_WRITERS_H

int writer_argument(const char *name); /* which argument, from 0; -1: not known to fill any */
int writer_source(const char *name);   /* which argument is copied there; -1: none is */
int writer_length(const char *name);   /* which argument says how many bytes; -1: not known */

#endif
