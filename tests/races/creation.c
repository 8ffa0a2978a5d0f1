/* XFDetector's bug 4 in small: a pool is made in its place, step by step, and each step is durable; but there is nothing that says when it is complete, and
 * what a crash leaves in the middle cannot be opened. Mended, it is made elsewhere and gets its name when it is complete.
 *	creation POOL run [broken]
 *	creation POOL recover */
#include "pm.h"

#include <sys/stat.h>

enum { SIGNATURE = 0x4c4f4f50, VERSION = 6 };

struct pool {
	LINE volatile uint64_t signature;
	LINE volatile uint64_t version;
	LINE volatile uint64_t uuid;
};

static void create(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0666);
	struct pool *p;

	if (fd < 0 || ftruncate(fd, sizeof *p) != 0)
		exit(2);
	p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		exit(2);
	p->signature = SIGNATURE;
	pm_persist(&p->signature, sizeof p->signature);
	p->version = VERSION; /* recovery takes no pool until the last store of this function is durable */
	pm_persist(&p->version, sizeof p->version);
	p->uuid = 42; /* FAILURE: broken */
	pm_persist(&p->uuid, sizeof p->uuid);
}

/* Like a library's: it takes the pool or leaves it. */
static int is_openable(const char *path)
{
	struct stat st;
	struct pool *p;

	if (stat(path, &st) < 0)
		return 1; /* there is none yet */
	if (st.st_size < (off_t)sizeof *p)
		return 0;
	p = pm_map(path, sizeof *p);
	return p->signature == SIGNATURE && p->version == VERSION && p->uuid != 0; /* RACE: broken */
}

int main(int argc, char **argv)
{
	char unfinished[4096], name[4096];
	size_t len = strlen(argv[1]);

	/* recovery is told the first name that the file has */
	snprintf(name, sizeof name, "%s", argv[1]);
	if (len > 4 && strcmp(name + len - 4, ".new") == 0)
		name[len - 4] = 0;
	if (strcmp(argv[2], "recover") == 0)
		return is_openable(name) ? 0 : 1;
	if (argc > 3) {
		create(name);
		return 0;
	}
	snprintf(unfinished, sizeof unfinished, "%.4000s.new", name);
	create(unfinished);
	return rename(unfinished, name) == 0 ? 0 : 1;
}
