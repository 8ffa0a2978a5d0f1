/* A diary in a file that is replaced, with a bug that docs/tutorial.md finds and fixes.
 * Usage: diary FOLDER add TEXT... or diary FOLDER list */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int folder; /* where the file "diary" is */

/* Reads the diary; gives its length, 0 if there is none. */
static size_t load(char *text, size_t room)
{
	int fd = openat(folder, "diary", O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, room);

	if (fd >= 0)
		close(fd);
	return n < 0 ? 0 : (size_t)n;
}

static int add(const char *entry)
{
	char text[4096];
	size_t n = load(text, sizeof text);
	int fd = openat(folder, "diary.new", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	n += (size_t)snprintf(text + n, sizeof text - n, "%s\n", entry);
	if (fd < 0 || n >= sizeof text || write(fd, text, n) != (ssize_t)n)
		return perror("diary.new"), 1;
	close(fd);
	renameat(folder, "diary.new", folder, "diary");
	fsync(folder);
	return 0;
}

static int list(void)
{
	char text[4096];
	size_t n = load(text, sizeof text);

	return fwrite(text, 1, n, stdout) == n ? 0 : 1;
}

int main(int argc, char **argv)
{
	int i;

	if (argc < 3)
		return fprintf(stderr, "usage: diary FOLDER add TEXT... or diary FOLDER list\n"), 2;
	folder = open(argv[1], O_RDONLY | O_DIRECTORY);
	if (folder < 0)
		return perror(argv[1]), 1;
	if (strcmp(argv[2], "list") == 0)
		return list();
	for (i = 3; i < argc; i++) {
		if (add(argv[i]))
			return 1;
		printf("added %s\n", argv[i]);
		fflush(stdout);
	}
	return 0;
}
