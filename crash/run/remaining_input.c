/* Makes the file for {rest:FILE}: the lines of an input file that are left after a number of
 * operations. There is one such file per line number, made when it is first needed. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "crash/run/runner_internal.h"

/* Hashes the whole path, because two folders may have files of the same name. */
static uint64_t name_hash(const char *s)
{
	uint64_t h = 1;

	for (; *s; s++)
		h = (h ^ (uint8_t)*s) * 0x9e3779b97f4a7c15u;
	return h ^ h >> 32;
}

static void copy_lines(FILE *in, FILE *out, uint64_t from)
{
	uint64_t line = 1;

	for (int c; (c = getc(in)) != EOF; line += c == '\n')
		if (line >= from)
			putc(c, out);
}

char *rest_make(const char *folder, const char *file, uint64_t line, struct error *err)
{
	char *path = xasprintf("%s/rest-%llx-%llu", folder, (unsigned long long)name_hash(file),
			       (unsigned long long)line);
	FILE *in, *out;
	bool ok;

	if (access(path, R_OK) == 0)
		return path;
	in = fopen(file, "re");
	out = in ? fopen(path, "we") : NULL;
	if (out)
		copy_lines(in, out, line);
	ok = out && !ferror(in) && !ferror(out);
	ok &= out && fclose(out) == 0;
	if (!ok) {
		error_set(err, "{rest:%s}: %s", file, strerror(errno));
		unlink(path);
		free(path);
		path = NULL;
	}
	if (in)
		fclose(in);
	return path;
}
