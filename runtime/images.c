/* Finds the PM files of the run and their images. An image is recognised by its inode at the
 * beginning of the run. So it keeps its lines when recovery renames it; a file that recovery makes
 * in its place has no lines. */
#include <fcntl.h>
#include <sys/stat.h>

#include "pm.h"

#define MAX_FILES 64u

/* For each image: its inode at the beginning of the run, the inode of the file that recovery made
 * in its place, and whether it was mapped at its recorded address. */
static struct {
	uint64_t dev, ino, new_dev, new_ino;
	bool was_home;
} g_images[MAX_FILES];

const struct run_file *images_file(uint32_t i)
{
	return (const struct run_file *)((char *)g_region + g_region->files) + i;
}

void images_init(void)
{
	if (g_region->nfiles > MAX_FILES)
		rt_unsound("too many PM files");
	for (uint32_t i = 0; i < g_region->nfiles; i++) {
		struct stat st;
		bool exists = CALL4(SYS_newfstatat, AT_FDCWD, images_file(i)->image, &st, 0) == 0;

		g_images[i].new_dev = exists ? st.st_dev : 0;
		g_images[i].new_ino = exists ? st.st_ino : 0;
		g_images[i].dev =
			images_file(i)->image_ino ? images_file(i)->image_dev : g_images[i].new_dev;
		g_images[i].ino =
			images_file(i)->image_ino ? images_file(i)->image_ino : g_images[i].new_ino;
	}
}

static int images_find(uint64_t dev, uint64_t ino)
{
	for (uint32_t i = 0; i < g_region->nfiles; i++)
		if (g_images[i].ino && g_images[i].ino == ino && g_images[i].dev == dev)
			return (int)i;
	return -1;
}

int images_find_fd(long fd)
{
	struct stat st;

	if (CALL2(SYS_fstat, fd, &st) != 0 || !S_ISREG(st.st_mode))
		return -1;
	return images_find(st.st_dev, st.st_ino);
}

int images_find_mapped(long fd)
{
	struct stat st;
	int file;

	if (CALL2(SYS_fstat, fd, &st) != 0 || !S_ISREG(st.st_mode))
		return -1;
	file = images_find(st.st_dev, st.st_ino);
	for (uint32_t i = 0; file < 0 && i < g_region->nfiles; i++)
		if (g_images[i].new_ino == st.st_ino && g_images[i].new_dev == st.st_dev)
			file = (int)i;
	return file;
}

void images_note_cut(uint32_t file, uint64_t length, uint64_t was_bytes)
{
	struct run_file *f = (struct run_file *)images_file(file);

	if (length < was_bytes && length < f->cut_bytes)
		f->cut_bytes = length;
}

void images_note_open(int file, long fd, bool truncates)
{
	struct stat st;

	if (CALL2(SYS_fstat, fd, &st) != 0)
		return;
	g_images[file].new_dev = st.st_dev;
	g_images[file].new_ino = st.st_ino;
	if (!truncates || images_find(st.st_dev, st.st_ino) != file)
		return;
	if (g_is_lazy)
		lines_written((uint32_t)file, 0, ~0ul);
	images_note_cut((uint32_t)file, 0, ~0ul);
}

void images_note_home(uint32_t file)
{
	g_images[file].was_home = true;
}

bool images_was_home(uint32_t file)
{
	return g_images[file].was_home;
}

bool images_has_page(uint32_t file, uint64_t offset)
{
	struct stat st;

	return CALL4(SYS_newfstatat, AT_FDCWD, images_file(file)->image, &st, 0) == 0 &&
	       st.st_ino == g_images[file].new_ino && st.st_dev == g_images[file].new_dev &&
	       offset < PAGE_UP((uint64_t)st.st_size);
}
