/* A stream is closed in a return: the caller learns whether its sync failed, too. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int sync_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY), result;

	if (fd < 0)
		return -1;
	result = fsync(fd);
	close(fd);
	return result;
}

static int save(const char *path, unsigned n)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return -1;
	for (unsigned i = 0; i < n; i++)
		fprintf(f, "%u\n", i);
	return fclose(f);
}

int main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1]) < 0)
		return 2;
	if (save("numbers", 10) != 0 || sync_folder(".") < 0)
		return 1;
	puts("saved");
	return 0;
}
