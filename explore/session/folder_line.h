/* Parses the lines of the file `state` in an exploration's folder. folder.c describes them. */
#ifndef EXPLORE_SESSION_FOLDER_LINE_H
#define EXPLORE_SESSION_FOLDER_LINE_H

#include <stdbool.h>
#include <stdint.h>

#define INSTANCE_NAME_MAX 64 /* in bytes */

struct folder_line {
	enum { LINE_RUN, LINE_TAKE, LINE_PM, LINE_NO, LINE_UNKNOWN, LINE_FLOODED, LINE_OTHER } kind;
	int64_t parent; /* -1: a seed */
	uint64_t step, key /* 0: none */, number, offset;
	char name[INSTANCE_NAME_MAX + 1];
	const char *object; /* points into the text */
};

/* Parses a line. The text must end without a newline. */
struct folder_line folder_line_parse(const char *text);

/* Asks whether the text can be the name of an instance: letters and digits, and after the first
 * character also - _ . */
bool instance_name_is_valid(const char *name);

#endif
