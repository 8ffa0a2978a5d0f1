/* Wrappers that end the program on an error; they say the name of the call that failed. The log of
 * what was done is never synced. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die(const char *what)
{
	perror(what);
	exit(1);
}

static int xopen(const char *path, int flags)
{
	const int fd = open(path, flags, 0644);

	if (fd < 0)
		die(path);
	return fd;
}

static void xwrite(int fd, const char *text, size_t n)
{
	while (n > 0) {
		const ssize_t done = write(fd, text, n);

		if (done < 0)
			die("write");
		text += done;
		n -= (size_t)done;
	}
}

static void xfsync(int fd)
{
	if (fsync(fd) < 0)
		die("fsync");
}

static void xsync_folder(const char *path)
{
	const int fd = xopen(path, O_RDONLY | O_DIRECTORY);

	xfsync(fd);
	close(fd);
}

static void replace_settings(const char *text)
{
	const int fd = xopen("settings.new", O_WRONLY | O_CREAT | O_TRUNC);

	xwrite(fd, text, strlen(text));
	xfsync(fd);
	close(fd);
	if (rename("settings.new", "settings") < 0)
		die("rename");
	xsync_folder(".");
}

static void replace_users(const char *text)
{
	const int fd = xopen("users.new", O_WRONLY | O_CREAT | O_TRUNC);

	xwrite(fd, "users\n", 6);
	xwrite(fd, text, strlen(text));
	xfsync(fd);
	close(fd);
	if (rename("users.new", "users") < 0)
		die("rename");
	xsync_folder(".");
}

static void note(int fd, const char *text)
{
	char line[100];

	snprintf(line, sizeof line, "%s\n", text);
	xwrite(fd, line, strlen(line));
}

int main(int argc, char **argv)
{
	int fd;

	if (argc != 2 || chdir(argv[1]) < 0)
		return 2;
	fd = xopen("log", O_WRONLY | O_CREAT | O_APPEND);
	xfsync(fd);
	xsync_folder(".");
	replace_settings("a = 1\n");
	replace_settings("a = 2\n");
	replace_users("one\n");
	replace_users("two\n");
	for (int i = 0; i < 3; i++) {
		char text[20];

		snprintf(text, sizeof text, "number %d", i);
		note(fd, text);
		xfsync(fd);
		printf("done %d\n", i);
		fflush(stdout);
	}
	close(fd);
	return 0;
}
