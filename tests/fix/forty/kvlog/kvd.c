/* kvd POOL: serves a kvlog on standard input, a request per line:
 *   put KEY VALUE | get KEY | del KEY
 * "ok" means that the change is durable.
 * kvd --check POOL: prints what is in it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kvlog.h"

#define REQUEST_MAX 400

static void reply(const char *text)
{
	char line[REQUEST_MAX + 1];
	int len = snprintf(line, sizeof(line), "%s\n", text);

	if (write(STDOUT_FILENO, line, (size_t)len) != len)
		perror("kvd: write");
}

/* A line without its end; 0 at the end of the input. A client may be slow:
 * nothing is read ahead. */
static int request_read(char *line, size_t size)
{
	size_t len = 0;
	char c;

	while (read(STDIN_FILENO, &c, 1) == 1) {
		if (c == '\n') {
			line[len] = '\0';
			return 1;
		}
		if (len + 1 < size)
			line[len++] = c;
	}
	return 0;
}

static void request_serve(struct kv_log *log, char *line)
{
	char *verb = strtok(line, " ");
	char *key = strtok(NULL, " ");
	char *value = strtok(NULL, "");
	const char *found;
	int failed;

	if (!verb || !key) {
		reply("error: what?");
		return;
	}
	if (strcmp(verb, "get") == 0) {
		found = kv_get(log, key);
		reply(found ? found : "none");
		return;
	}
	if (strcmp(verb, "put") == 0 && value)
		failed = kv_put(log, key, value);
	else if (strcmp(verb, "del") == 0)
		failed = kv_del(log, key);
	else {
		reply("error: what?");
		return;
	}
	reply(failed ? strerror(errno) : "ok");
}

static int check(const char *path)
{
	struct kv_log *log = kv_open(path, 0);
	int failed;

	if (!log && (errno == ENOENT || errno == ENODATA)) {
		printf("nothing there yet\n");
		return 0;
	}
	if (!log) {
		perror(path);
		return 1;
	}
	failed = kv_verify(log);
	kv_close(log);
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	char line[REQUEST_MAX];
	struct kv_log *log;

	if (argc == 3 && strcmp(argv[1], "--check") == 0)
		return check(argv[2]);
	if (argc != 2) {
		fprintf(stderr, "usage: kvd [--check] POOL\n");
		return 2;
	}
	log = kv_open(argv[1], 1);
	if (!log) {
		perror(argv[1]);
		return 1;
	}
	while (request_read(line, sizeof(line)))
		request_serve(log, line);
	kv_close(log);
	return 0;
}
