/* Reads how far the parts of an exploration are. A part is over when it was explored completely, or
 * when it ended by itself because its budget was spent. */
#include "distribute/spread/parts.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/bug.h"
#include "util/alloc.h"

void spread_parts_init(struct spread_parts *p, const char *folder, uint32_t n)
{
	*p = (struct spread_parts){ .folder = folder, .at = xcalloc(n, sizeof *p->at), .n = n };
}

void spread_parts_release(struct spread_parts *p)
{
	free(p->at);
}

char *spread_parts_path(const struct spread_parts *p, uint32_t index, const char *ending)
{
	return xasprintf("%s/part-%u-of-%u.%s", p->folder, index + 1, p->n, ending);
}

/* Has the file changed? Opens it, because a network file system then shows its newest version. */
static bool has_changed(const char *path, struct stat *seen)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat now;
	bool is_new = false;

	if (fd >= 0 && fstat(fd, &now) == 0) {
		is_new = now.st_ino != seen->st_ino || now.st_mtim.tv_sec != seen->st_mtim.tv_sec ||
			 now.st_mtim.tv_nsec != seen->st_mtim.tv_nsec ||
			 now.st_size != seen->st_size;
		*seen = now;
	}
	if (fd >= 0)
		close(fd);
	return is_new;
}

/* Reads the file of a part. A file that cannot be read counts as missing; the task that writes it
 * will report what is wrong. */
static int read_part(struct spread_parts *p, uint32_t index, const char *path, struct error *err)
{
	struct error ignored;
	struct report *r = report_read(path, &ignored);
	const struct report_shard *s = r ? report_shard(r) : NULL;
	struct spread_part *part = &p->at[index];
	int result = 0;

	if (!r)
		part->seen = (struct stat){ 0 };
	else if (!s || s->index != index + 1 || s->of != p->n)
		result = error_set(
			err,
			"%s is not part %u of %u of an exploration; remove it, or choose another folder with --out",
			path, index + 1, p->n);
	else
		*part = (struct spread_part){ .is_over = s->done >= s->failure_points,
					      .done = s->done,
					      .npoints = s->failure_points,
					      .seen = part->seen };
	if (r)
		report_free(r);
	return result;
}

/* Did the part's task end with exit status 0 or 1, as an exploration should? */
static bool has_ended_well(const struct spread_parts *p, uint32_t index)
{
	char *path = spread_parts_path(p, index, "status");
	FILE *f = fopen(path, "re");
	int status = -1;

	if (f && fscanf(f, "%d", &status) != 1)
		status = -1;
	if (f)
		fclose(f);
	free(path);
	return status == 0 || status == 1;
}

int spread_parts_read(struct spread_parts *p, struct error *err)
{
	int result = 0;

	for (uint32_t i = 0; i < p->n && result == 0; i++) {
		char *path = spread_parts_path(p, i, "json");

		if (has_changed(path, &p->at[i].seen))
			result = read_part(p, i, path, err);
		if (p->at[i].seen.st_ino && !p->at[i].is_over)
			p->at[i].is_over = has_ended_well(p, i);
		free(path);
	}
	return result;
}

uint32_t spread_parts_nover(const struct spread_parts *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n; i++)
		n += p->at[i].is_over;
	return n;
}

uint64_t spread_parts_ndone(const struct spread_parts *p)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < p->n; i++)
		n += p->at[i].done;
	return n;
}

uint64_t spread_parts_npoints(const struct spread_parts *p)
{
	uint64_t n = 0;

	for (uint32_t i = 0; i < p->n; i++)
		n += p->at[i].npoints;
	return n;
}

static void remove_file(const struct spread_parts *p, uint32_t index, const char *ending)
{
	char *path = spread_parts_path(p, index, ending);

	unlink(path);
	free(path);
}

void spread_parts_begin(const struct spread_parts *p)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (!p->at[i].is_over)
			remove_file(p, i, "status");
}

void spread_parts_remove(const struct spread_parts *p)
{
	for (uint32_t i = 0; i < p->n; i++) {
		remove_file(p, i, "json");
		remove_file(p, i, "log");
		remove_file(p, i, "status");
	}
	rmdir(p->folder);
}
