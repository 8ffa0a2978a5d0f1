/* Changes what the program reads of a folder that has PM files. The program sees the files that
 * exist in the crash state, not those that the user has now. A file that exists only in the crash
 * state comes first, at the beginning of the listing. Only getdents64 is handled; glibc uses no
 * other call. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "calls.h"

struct entry { /* an entry, as the kernel writes it */
	uint64_t ino;
	int64_t off;
	uint16_t len_bytes;
	uint8_t type;
	char name[];
};

#define ENTRY_BYTES(name_len) (((size_t)(name_len) + offsetof(struct entry, name) + 1 + 7) & ~7ul)

static bool has_image(const struct run_file *f, uint64_t *ino)
{
	struct stat st;
	bool exists = CALL4(SYS_newfstatat, AT_FDCWD, f->image, &st, 0) == 0;

	*ino = exists ? st.st_ino : 0;
	return exists;
}

static bool is_in_folder(const struct run_file *f, const struct stat *folder)
{
	return f->folder_ino == folder->st_ino && f->folder_dev == folder->st_dev;
}

/* Removes entries of files that do not exist in the crash state. */
static size_t remove_absent(char *list, size_t n, const struct stat *folder)
{
	size_t to = 0, bytes;

	for (size_t from = 0; from + sizeof(struct entry) <= n; from += bytes) {
		const struct entry *e = (const struct entry *)(list + from);
		bool is_shown = true;
		uint64_t ino;

		bytes = e->len_bytes;
		for (uint32_t i = 0; i < g_region->nfiles; i++) {
			const struct run_file *f = images_file(i);

			if (is_in_folder(f, folder) && strcmp(f->name, e->name) == 0)
				is_shown = has_image(f, &ino);
			else if (is_in_folder(f, folder) && beside_is_gone(f, e->name))
				is_shown = false;
		}
		if (!is_shown)
			continue;
		memmove(list + to, list + from, bytes);
		to += bytes;
	}
	return to;
}

/* Adds an entry, unless the user has a file of that name. Returns the entry's length; 0: none was
 * added. */
static size_t add_entry(long fd, char *to, size_t room, uint64_t ino, const char *name)
{
	const size_t bytes = ENTRY_BYTES(strlen(name));
	struct entry *e = (struct entry *)to;
	struct stat st;

	if (bytes > room || CALL4(SYS_newfstatat, fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
		return 0;
	memset(e, 0, bytes);
	e->ino = ino;
	e->len_bytes = (uint16_t)bytes;
	e->type = 8; /* DT_REG */
	strcpy(e->name, name);
	return bytes;
}

/* Adds entries for files that the user does not have: images, and files that recovery made. */
static size_t add_present(long fd, char *list, size_t room, const struct stat *folder)
{
	const struct run_file *first = NULL;
	char name[256];
	size_t at = 0;
	uint64_t ino;
	long next = 0;

	for (uint32_t i = 0; i < g_region->nfiles; i++) {
		const struct run_file *f = images_file(i);

		if (!is_in_folder(f, folder))
			continue;
		first = first ? first : f;
		if (has_image(f, &ino))
			at += add_entry(fd, list + at, room - at, ino, f->name);
	}
	while (first && beside_next(first, &next, name))
		at += add_entry(fd, list + at, room - at, folder->st_ino, name);
	return at;
}

long dirents_call(long number, long a[6])
{
	struct stat folder;
	char *list = (char *)a[1];
	size_t room = (size_t)a[2], first = 0, n;
	bool is_known = false;
	long r;

	if (number != SYS_getdents64 || CALL2(SYS_fstat, a[0], &folder) != 0 ||
	    !S_ISDIR(folder.st_mode))
		return CALL_PASS;
	for (uint32_t i = 0; i < g_region->nfiles; i++)
		is_known |= is_in_folder(images_file(i), &folder);
	if (!is_known || maps_touch((uint64_t)list, room))
		return CALL_PASS;
	if (CALL3(SYS_lseek, a[0], 0, SEEK_CUR) == 0)
		first = add_present(a[0], list, room / 2, &folder);
	/* if nothing is left of a piece, read the next one: an empty piece would mean the end */
	do {
		r = CALL3(SYS_getdents64, a[0], list + first, room - first);
		n = r > 0 ? remove_absent(list + first, (size_t)r, &folder) : 0;
	} while (r > 0 && first + n == 0);
	return IS_ERROR(r) && first == 0 ? r : (long)(first + n);
}
