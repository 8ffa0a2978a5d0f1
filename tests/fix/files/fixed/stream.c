/* Streams: they are written when they are flushed or closed. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct journal {
	FILE *f;
	unsigned n;
};

static int finish(FILE *f)
{
	if (fflush(f) != 0 || fsync(fileno(f)) != 0) {
		perror("fsync");
		return -1;
	}
	return 0;
}

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
	if (finish(f) < 0) {
		fclose(f);
		perror("finish");
		return -1;
	}
	if (fclose(f) != 0) {
		perror("fclose");
		return -1;
	}
	return sync_folder(".");
}

static int journal_add(struct journal *j, const char *text)
{
	if (fprintf(j->f, "%u %s\n", j->n, text) < 0)
		return -1;
	if (fflush(j->f) != 0)
		return -1;
	if (finish(j->f) < 0)
		return -1;
	j->n++;
	return 0;
}

int main(int argc, char **argv)
{
	struct journal j = { 0 };

	if (argc != 2 || chdir(argv[1]) < 0 || !(j.f = fopen("journal", "a")))
		return 2;
	if (sync_folder(".") < 0 || journal_add(&j, "begin") < 0 || finish(j.f) < 0)
		return 1;
	if (save("numbers", 10) < 0)
		return 1;
	if (journal_add(&j, "saved") < 0)
		return 1;
	puts("saved");
	return fclose(j.f) != 0;
}
