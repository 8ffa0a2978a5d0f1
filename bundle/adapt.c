/* Makes unpacked programs and scripts run where they are. The path of a program's loader is
 * appended to the file and its program header made to point there; a script's first line is
 * replaced. All other bytes stay, so debug information, build ids and line numbers still fit. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bundle/bundle.h"

#define LINE_ROOM 256 /* the kernel looks at so much of a script */

/* Gives ROOT/PATH if the bundle has it, else NULL. free() it. */
static char *path_in_bundle(const char *root, const char *path)
{
	char *inside = path[0] == '/' ? xasprintf("%s%s", root, path) : NULL;
	struct stat st;

	if (inside && stat(inside, &st) == 0)
		return inside;
	free(inside);
	return NULL;
}

static bool is_read(int fd, void *to, size_t n, uint64_t at)
{
	return at < INT64_MAX - n && pread(fd, to, n, (off_t)at) == (ssize_t)n;
}

/* Finds the program header that names the loader, and that name. False if there is none. */
static bool loader_find(int fd, Elf64_Phdr *p, uint64_t *at, char *path, size_t room)
{
	Elf64_Ehdr h;

	if (!is_read(fd, &h, sizeof h, 0) || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0 ||
	    h.e_ident[EI_CLASS] != ELFCLASS64 || h.e_phentsize != sizeof *p)
		return false;
	for (unsigned i = 0; i < h.e_phnum; i++) {
		*at = h.e_phoff + i * sizeof *p;
		if (!is_read(fd, p, sizeof *p, *at))
			return false;
		if (p->p_type == PT_INTERP && p->p_filesz > 1 && p->p_filesz < room &&
		    is_read(fd, path, p->p_filesz, p->p_offset)) {
			path[p->p_filesz] = 0;
			return true;
		}
	}
	return false;
}

static int program_adapt(int fd, const char *root)
{
	char path[4096], *now;
	struct stat st;
	uint64_t at;
	Elf64_Phdr p;
	int result = -1;

	if (!loader_find(fd, &p, &at, path, sizeof path) || !(now = path_in_bundle(root, path)))
		return 0;
	if (fstat(fd, &st) == 0 &&
	    pwrite(fd, now, strlen(now) + 1, st.st_size) == (ssize_t)strlen(now) + 1) {
		p.p_offset = (uint64_t)st.st_size;
		p.p_filesz = p.p_memsz = strlen(now) + 1;
		result = pwrite(fd, &p, sizeof p, (off_t)at) == (ssize_t)sizeof p ? 0 : -1;
	}
	free(now);
	return result;
}

/* Replaces the first bytes of a file by a text. */
static int head_replace(int fd, size_t old_bytes, const char *text)
{
	struct stat st;
	int result = -1;
	char *rest;

	if (fstat(fd, &st) < 0)
		return -1;
	rest = xmalloc((size_t)st.st_size);
	if (is_read(fd, rest, (size_t)st.st_size, 0) &&
	    pwrite(fd, text, strlen(text), 0) == (ssize_t)strlen(text) &&
	    pwrite(fd, rest + old_bytes, (size_t)st.st_size - old_bytes, (off_t)strlen(text)) ==
		    st.st_size - (off_t)old_bytes)
		result = 0;
	free(rest);
	return result;
}

/* Adapts the first line of a script. 1 if the kernel would not understand the new line. */
static int script_adapt(int fd, const char *root)
{
	char line[LINE_ROOM + 1] = "", *path, *end, *now, *head;
	size_t rest;
	int result;

	if (pread(fd, line, LINE_ROOM, 0) < 4 || memcmp(line, "#!", 2) != 0)
		return 0;
	path = line + 2 + strspn(line + 2, " \t");
	end = path + strcspn(path, " \t\n");
	rest = *end == '\n' ? 0 : strcspn(end, "\n");
	*end = 0;
	now = path_in_bundle(root, path);
	if (!now)
		return 0;
	head = xasprintf("#!%s", now);
	result = strpbrk(now, " \t\n") || strlen(head) + rest + 2 > LINE_ROOM
			 ? 1
			 : head_replace(fd, (size_t)(end - line), head);
	free(head);
	free(now);
	return result;
}

static int entry_adapt(const struct bundle *b, const struct bundle_entry *e, const char *root,
		       struct error *err)
{
	char *path = xasprintf("%s/%s", root, e->path);
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW),
	    result = fd < 0 ? -1 : program_adapt(fd, root);

	if (result == 0)
		result = script_adapt(fd, root);
	if (result > 0)
		error_set(
			err,
			"%s: the script %s cannot be run below %s: its path is too long or contains a blank; set TMPDIR to another folder",
			b->file, e->path, root);
	else if (result < 0)
		error_set(err, "cannot unpack %s of %s: %s", e->path, b->file, strerror(errno));
	if (fd >= 0)
		close(fd);
	free(path);
	return result ? -1 : 0;
}

int bundle_adapt(const struct bundle *b, const char *folder, struct error *err)
{
	char *root = xasprintf("%s/root", folder);
	int result = 0;

	if (strpbrk(folder, ":;"))
		result = error_set(
			err,
			"%s cannot be run in %s: the loader does not accept a folder with a colon or semicolon in its name; set TMPDIR to another folder",
			b->file, folder);
	for (size_t i = 0; result == 0 && i < b->entries.n; i++)
		if (b->entries.at[i].kind == BUNDLE_FILE && b->entries.at[i].mode & 0111)
			result = entry_adapt(b, &b->entries.at[i], root, err);
	free(root);
	return result;
}
