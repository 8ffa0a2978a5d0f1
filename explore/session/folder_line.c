/* Parses lines of a state file. A line that is not understood is LINE_OTHER: the file may be
 * damaged, or of a later version. */
#include "explore/session/folder_line.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool instance_name_is_valid(const char *name)
{
	size_t n = strlen(name);

	if (n == 0 || n > INSTANCE_NAME_MAX || !isalnum((unsigned char)name[0]))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!isascii((unsigned char)name[i]) ||
		    (!isalnum((unsigned char)name[i]) && !strchr("-_.", name[i])))
			return false;
	return true;
}

struct folder_line folder_line_parse(const char *text)
{
	struct folder_line l = { .kind = LINE_OTHER };
	int at = 0;

	if (sscanf(text, "run %" SCNd64 " %" SCNu64 " %" SCNx64, &l.parent, &l.step, &l.key) >= 2)
		l.kind = LINE_RUN;
	else if (sscanf(text, "take %64s %" SCNu64 " %" SCNd64 " %" SCNu64, l.name, &l.number,
			&l.parent, &l.step) == 4)
		l.kind = LINE_TAKE;
	else if (sscanf(text, "pm %" SCNu64 " %n", &l.offset, &at) == 1 && at > 0 && text[at])
		l.kind = LINE_PM, l.object = text + at;
	else if (sscanf(text, "no %" SCNx64, &l.key) == 1)
		l.kind = LINE_NO;
	else if (sscanf(text, "unknown %" SCNx64, &l.key) == 1)
		l.kind = LINE_UNKNOWN;
	else if (strcmp(text, "flooded") == 0)
		l.kind = LINE_FLOODED;
	if (l.kind == LINE_TAKE && strcmp(l.name, ".") != 0 && !instance_name_is_valid(l.name))
		l.kind = LINE_OTHER;
	return l;
}
