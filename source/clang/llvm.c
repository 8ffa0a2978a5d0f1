/* Finds the clang of the LLVM version with which pmend reads sources. The bitcode of another
 * version may be unreadable, and its headers may not parse. */
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/clang/llvm.h"
#include "util/alloc.h"
#include "util/proc.h"

char *llvm_clang(void)
{
	return proc_find("clang-" LLVM_NUMBER);
}

static char *ask_clang(void)
{
	FILE *answer = popen(LLVM_HOME "/bin/clang -print-resource-dir 2>/dev/null", "re");
	char *line = NULL;
	size_t size = 0;
	ssize_t n = answer ? getline(&line, &size, answer) : -1;

	if (answer)
		pclose(answer);
	if (n > 1 && line[n - 1] == '\n')
		line[n - 1] = '\0';
	if (n > 1 && access(line, R_OK) == 0)
		return line;
	free(line);
	return NULL;
}

/* Finds clang's own headers where clang itself is not installed. Their folder is named after the
 * version, 14.0.6 or 19. */
static char *find_headers(void)
{
	static const char parent[] = LLVM_HOME "/lib/clang";
	DIR *dir = opendir(parent);
	char *found = NULL;

	for (struct dirent *e; dir && !found && (e = readdir(dir));) {
		char *header = xasprintf("%s/%s/include/stddef.h", parent, e->d_name);

		if (e->d_name[0] != '.' && access(header, R_OK) == 0)
			found = xasprintf("%s/%s", parent, e->d_name);
		free(header);
	}
	if (dir)
		closedir(dir);
	return found;
}

static char *resources;

static void find_resources(void)
{
	resources = ask_clang();
	if (!resources)
		resources = find_headers();
}

const char *llvm_resources(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, find_resources);
	return resources;
}
