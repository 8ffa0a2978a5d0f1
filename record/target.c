/* Checks the program under test, so that the user reads what is wrong instead of Valgrind's
 * messages. */
#include "record/target.h"

#include <elf.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/machine.h"
#include "util/proc.h"

static int not_found(const char *name, int why, struct error *err)
{
	struct stat st;

	if (why == EISDIR ||
	    (why == ENOENT && !strchr(name, '/') && stat(name, &st) == 0 && S_ISDIR(st.st_mode)))
		return error_set(err, "%s is a folder, not a program or trace", name);
	if (why == EACCES)
		return error_set(err, "%s is not executable; if it is a program, 'chmod +x' it",
				 name);
	if (why == ENOENT && !strchr(name, '/') && access(name, F_OK) == 0)
		return error_set(err,
				 "no program '%s' in PATH; for the one in this folder, write ./%s",
				 name, name);
	if (why == ENOENT && !strchr(name, '/'))
		return error_set(err, "no program '%s' in PATH", name);
	return error_set(err, "cannot run %s: %s", name,
			 why == ENOENT ? "no such program" : strerror(why));
}

static int elf_check(const char *path, const Elf64_Ehdr *h, struct error *err)
{
	const struct machine *own = machine_own();

	if (h->e_ident[EI_CLASS] == ELFCLASS32)
		return error_set(
			err,
			"%s is a 32-bit program; pmend records 64-bit %s ones here, so build it for that",
			path, own->says);
	if (h->e_ident[EI_DATA] != ELFDATA2LSB || le16toh(h->e_machine) != own->elf_machine)
		return error_set(err,
				 "%s is a program for another machine; pmend records %s ones here",
				 path, own->says);
	if (le16toh(h->e_type) != ET_EXEC && le16toh(h->e_type) != ET_DYN)
		return error_set(err, "%s is an object file or a core dump, not a program", path);
	return 0;
}

int target_check(const char *name, struct error *err)
{
	char *path = proc_find(name);
	Elf64_Ehdr h = { 0 };
	int fd = -1, result = -1;
	ssize_t n;

	if (!path)
		return not_found(name, errno, err);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : pread(fd, &h, sizeof h, 0);
	if (n < 0)
		error_set(err, "cannot read %s, which recording needs: %s", path, strerror(errno));
	else if (n >= (ssize_t)sizeof(Elf32_Ehdr) && memcmp(h.e_ident, ELFMAG, SELFMAG) == 0)
		result = elf_check(path, &h, err);
	else if (n >= 2 && memcmp(h.e_ident, "#!", 2) == 0)
		result = 0;
	else
		error_set(err, "%s is not an ELF program, and not a script that begins with #!",
			  path);
	if (fd >= 0)
		close(fd);
	free(path);
	return result;
}
