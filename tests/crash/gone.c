/* A pool in a folder that the program makes and removes again, as tests do with mktemp. `gone run DIR` is the program; recovery, `gone check DIR`, works in the folder: it
 * opens it and syncs it, and writes a note under another name, renames it, reads it and removes it. */
#include "pm.h"

struct pool {
	_Alignas(LINE_BYTES) uint64_t value;
	_Alignas(LINE_BYTES) uint64_t count;
};

static const char *in(const char *folder, const char *name)
{
	static char paths[4][512];
	static int n;
	char *path = paths[n++ % 4];

	snprintf(path, sizeof paths[0], "%s/%s", folder, name);
	return path;
}

static void sync_folder(const char *folder)
{
	const int fd = open(folder, O_RDONLY | O_DIRECTORY);

	CHECK(fd >= 0 && fsync(fd) == 0);
	close(fd);
}

static void run(const char *folder)
{
	struct pool *p;

	CHECK(mkdir(folder, 0777) == 0);
	p = pool_create(in(folder, "pool"), sizeof *p);
	for (uint64_t i = 1; i <= 3; i++) {
		p->value = i;
		persist(&p->value, sizeof p->value);
		p->count = i;
		persist(&p->count, sizeof p->count);
	}
	CHECK(unlink(in(folder, "pool")) == 0 && rmdir(folder) == 0);
}

static void take_note(const char *folder)
{
	struct stat st;
	FILE *f = fopen(in(folder, "note.new"), "w");

	CHECK(f && fputs("hello", f) >= 0 && fclose(f) == 0);
	CHECK(rename(in(folder, "note.new"), in(folder, "note")) == 0);
	CHECK(stat(in(folder, "note.new"), &st) != 0 && stat(in(folder, "note"), &st) == 0 && st.st_size == 5);
	CHECK(unlink(in(folder, "note")) == 0);
}

int main(int argc, char **argv)
{
	struct pool *p;

	CHECK(argc == 3);
	if (strcmp(argv[1], "run") == 0) {
		run(argv[2]);
		return 0;
	}
	p = pool_open(in(argv[2], "pool"), sizeof *p);
	if (!p)
		return 0;
	sync_folder(argv[2]);
	take_note(argv[2]);
	CHECK(p->value >= p->count);
	return 0;
}
