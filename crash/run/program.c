/* Finds out how a program can be run. A dynamically linked program that starts with libc's
 * __libc_start_main() can be forked before main(). Other dynamic programs can be preloaded. The
 * rest can only be executed, because no loader reads LD_PRELOAD for them. For a script, its
 * interpreter counts. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "crash/run/runner_internal.h"

/* our own ELF header; the linker defines it */
extern const Elf64_Ehdr __ehdr_start __attribute__((visibility("hidden")));

static enum program_mode plain(const char **why, const char *reason)
{
	*why = reason;
	return PROGRAM_PLAIN;
}

static enum program_mode probe_elf(const char *file, size_t len, const char **why)
{
	static const char start[] = "__libc_start_main";
	const Elf64_Ehdr *eh = (const Elf64_Ehdr *)file;
	const Elf64_Phdr *ph;
	const char *loader = NULL;

	if (len < sizeof *eh || memcmp(eh->e_ident, ELFMAG, SELFMAG) != 0)
		return plain(why, "is not an ELF program");
	if (eh->e_ident[EI_CLASS] != ELFCLASS64 || eh->e_machine != __ehdr_start.e_machine ||
	    eh->e_phentsize != sizeof *ph)
		return plain(why, "is built for another architecture");
	if (eh->e_phoff > len || eh->e_phnum > (len - eh->e_phoff) / sizeof *ph)
		return plain(why, "is damaged");
	ph = (const Elf64_Phdr *)(file + eh->e_phoff);
	for (size_t i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_INTERP && ph[i].p_offset < len &&
		    ph[i].p_filesz <= len - ph[i].p_offset)
			loader = file + ph[i].p_offset;
	if (!loader)
		return plain(why, "is linked statically");
	if (!memmem(loader, strnlen(loader, (size_t)(file + len - loader)), "/ld-linux", 9))
		return plain(why, "is linked with another C library");
	if (!memmem(file, len, start, sizeof start)) {
		*why = "is not started by the C library";
		return PROGRAM_PRELOADED;
	}
	return PROGRAM_FORK;
}

static enum program_mode probe(const char *path, unsigned depth, const char **why)
{
	enum program_mode mode = PROGRAM_PLAIN;
	struct stat st;
	char *file;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) < 0 || st.st_size == 0) {
		if (fd >= 0)
			close(fd);
		return plain(why, "cannot be read");
	}
	file = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (file == MAP_FAILED) {
		mode = plain(why, "cannot be read");
	} else if (st.st_size > 2 && memcmp(file, "#!", 2) == 0 && depth < 4) {
		char line[256] = "", *name = line;

		memcpy(line, file + 2,
		       (size_t)st.st_size - 2 < sizeof line ? (size_t)st.st_size - 2
							    : sizeof line - 1);
		name += strspn(name, " \t");
		name[strcspn(name, " \t\n")] = 0;
		mode = probe(name, depth + 1, why);
	} else if (st.st_mode & (S_ISUID | S_ISGID) ||
		   fgetxattr(fd, "security.capability", NULL, 0) > 0) {
		mode = plain(why, "has privileges of its own (setuid, setgid or capabilities)");
	} else {
		mode = probe_elf(file, (size_t)st.st_size, why);
	}
	if (file != MAP_FAILED)
		munmap(file, (size_t)st.st_size);
	close(fd);
	return mode;
}

enum program_mode program_probe(const char *path, const char **why)
{
	*why = NULL;
	return probe(path, 0, why);
}
