/* The program around the table, for tests that run programs.
 * Usage: app FILE put KEY VALUE, app FILE new KEY VALUE (without what the file held) or
 * app FILE print */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pmend.h>

#include "table.h"

int main(int argc, char **argv)
{
	struct table *t;
	bool is_done;

	if (argc < 3)
		return 2;
	if (strcmp(argv[2], "new") == 0)
		remove(argv[1]);
	t = table_open(argv[1]);
	if (!t)
		return 2;
	if (strcmp(argv[2], "print") == 0) {
		table_print(t);
		return 0;
	}
	if (argc != 5)
		return 2;
	/* pmend compares what `print` prints before and after this, with every crash between */
	PMEND_OP_BEGIN("put");
	is_done = table_put(t, strtoull(argv[3], NULL, 10), strtoull(argv[4], NULL, 10));
	PMEND_OP_END("put");
	return is_done ? 0 : 1;
}
