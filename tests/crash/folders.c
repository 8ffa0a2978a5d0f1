/* Keeps data in one folder and its undo log in another: `folders DATA LOG CASE make` makes what is there before, `folders DATA LOG CASE` changes it and
 * acknowledges that, `folders DATA LOG CASE print` recovers, and prints the data or fails. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CHECK(x) do { if (!(x)) { fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #x); exit(1); } } while (0)
#define BYTES 1024

static int file_open(const char *folder, const char *name, int flags)
{
	const int at = open(folder, O_RDONLY | O_DIRECTORY), fd = openat(at, name, flags, 0600);

	CHECK(fd >= 0);
	close(at);
	return fd;
}

static void work(int data, int log, int is_right)
{
	char text[BYTES];

	CHECK(pread(data, text, BYTES, 0) == BYTES);
	CHECK(pwrite(log, text, BYTES, 0) == BYTES);
	CHECK(fsync(log) == 0);
	CHECK(pwrite(log, "C", 1, BYTES) == 1); /* BUG: late: ordering lost */
	if (is_right)
		CHECK(fsync(log) == 0);
	memset(text, text[0] + 1, BYTES);
	CHECK(pwrite(data, text, BYTES, 0) == BYTES); /* BUG: late: ordering survived */
	CHECK(fsync(data) == 0);
	CHECK(ftruncate(log, 0) == 0 && fsync(log) == 0);
	CHECK(write(STDOUT_FILENO, "done\n", 5) == 5);
}

static void print(int data, int log)
{
	char text[BYTES + 1];

	if (pread(log, text, BYTES + 1, 0) == BYTES + 1 && text[BYTES] == 'C') {
		CHECK(pwrite(data, text, BYTES, 0) == BYTES && fsync(data) == 0);
		CHECK(ftruncate(log, 0) == 0);
	}
	CHECK(pread(data, text, BYTES, 0) == BYTES);
	for (int i = 1; i < BYTES; i++)
		CHECK(text[i] == text[0]);
	printf("%c\n", text[0]);
}

int main(int argc, char **argv)
{
	char text[BYTES];

	CHECK(argc >= 4);
	if (argc > 4 && strcmp(argv[4], "make") == 0) {
		const int data = file_open(argv[1], "data", O_WRONLY | O_CREAT);

		memset(text, '0', BYTES);
		CHECK(write(data, text, BYTES) == BYTES);
		close(file_open(argv[2], "log", O_WRONLY | O_CREAT));
	} else if (argc > 4) {
		print(file_open(argv[1], "data", O_RDWR), file_open(argv[2], "log", O_RDWR));
	} else {
		work(file_open(argv[1], "data", O_RDWR), file_open(argv[2], "log", O_RDWR), strcmp(argv[3], "right") == 0);
	}
	return 0;
}
