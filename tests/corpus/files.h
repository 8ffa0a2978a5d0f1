/* What the programs files_* share: each works in its only argument, a folder, all of whose files are followed. */
#ifndef CORPUS_FILES_H
#define CORPUS_FILES_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition) ((condition) ? (void)0 : failed(__FILE__, __LINE__, #condition))

static inline void failed(const char *file, int line, const char *condition)
{
	fprintf(stderr, "%s:%d: %s does not hold\n", file, line, condition);
	abort();
}

static inline int make(const char *name, int flags)
{
	const int fd = open(name, O_CREAT | flags, 0644);

	CHECK(fd >= 0);
	return fd;
}

#define PUT(fd, text) CHECK(write(fd, text, strlen(text)) == (ssize_t)strlen(text))

static inline void sync_folder(const char *name)
{
	const int fd = open(name, O_RDONLY | O_DIRECTORY);

	CHECK(fd >= 0 && fsync(fd) == 0 && close(fd) == 0);
}

/* A file that is durable, with its name. */
static inline int make_durable(const char *name, const char *text)
{
	const int fd = make(name, O_RDWR);

	PUT(fd, text);
	CHECK(fsync(fd) == 0);
	sync_folder(".");
	return fd;
}

/* Each case is a process, in a folder of its own. */
struct files_case {
	const char *name;
	void (*run)(void);
};

static inline void run_cases(const char *folder, const struct files_case *cases, int n)
{
	CHECK(chdir(folder) == 0);
	for (int i = 0; i < n; i++)
		CHECK(mkdir(cases[i].name, 0755) == 0);
	sync_folder(".");
	for (int i = 0; i < n; i++) {
		int status;

		if (fork() == 0) {
			CHECK(chdir(cases[i].name) == 0);
			cases[i].run();
			_exit(0);
		}
		CHECK(wait(&status) > 0 && status == 0);
	}
}

#endif
