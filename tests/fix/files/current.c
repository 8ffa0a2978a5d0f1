/* A log and a manifest; `check` fails if the manifest names a record that is not there. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int put(int fd, const char *text)
{
	size_t n = strlen(text);

	return write(fd, text, n) == (ssize_t)n ? 0 : -1;
}

static int sync_folder(void)
{
	int fd = open(".", O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return -1;
	if (fsync(fd) < 0) {
		close(fd);
		return -1;
	}
	return close(fd);
}

static int switch_to(const char *name)
{
	int fd = open("CURRENT.new", O_WRONLY | O_CREAT | O_TRUNC, 0644);

	if (fd < 0)
		return -1;
	if (put(fd, name) < 0 || fsync(fd) < 0) {
		close(fd);
		return -1;
	}
	close(fd);
	return rename("CURRENT.new", "CURRENT");
}

static int make_table(const char *name)
{
	int fd = open(name, O_WRONLY | O_CREAT, 0644);

	if (fd < 0)
		return -1;
	if (put(fd, "whole\n") < 0) {
		close(fd);
		return -1;
	}
	close(fd);
	return 0;
}

static int check(void)
{
	char name[100] = "", text[100] = "";
	FILE *f = fopen("CURRENT", "r");

	if (!f)
		return 0;
	if (!fgets(name, sizeof name, f))
		return 1;
	fclose(f);
	f = fopen(name, "r");
	if (!f || !fgets(text, sizeof text, f) || strcmp(text, "whole\n") != 0)
		return 1;
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2 || chdir(argv[1]) < 0)
		return 2;
	if (argc == 3)
		return check();
	if (make_table("table.1") < 0 || switch_to("table.1") < 0)
		return 1;
	if (sync_folder() < 0)
		return 1;
	puts("switched");
	return 0;
}
