/* A table in persistent memory: the code under test of this folder's examples. A file of zeros is
 * an empty table. */
#ifndef TABLE_H
#define TABLE_H

#include <stdbool.h>
#include <stdint.h>

#define TABLE_ROWS 63

struct row {
	uint64_t key, value, pad[6];
};

struct table {
	uint64_t count; /* rows before this number are valid */
	uint64_t pad[7];
	struct row row[TABLE_ROWS];
};

#ifdef __cplusplus
extern "C" {
#endif

/* Maps the table of a file, which need not exist; NULL if that is not possible. */
struct table *table_open(const char *path);
void table_close(struct table *t);
/* Adds a row, which is durable when the function returns; false if the table is full. */
bool table_put(struct table *t, uint64_t key, uint64_t value);
/* Prints all rows, one per line. */
void table_print(const struct table *t);

#ifdef __cplusplus
}
#endif

#endif
