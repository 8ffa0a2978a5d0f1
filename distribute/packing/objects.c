/* Finds what a program needs to start: a script its interpreter, an ELF file its loader and
 * libraries. The loader lists the libraries itself (--list), so run paths, the cache and
 * LD_LIBRARY_PATH count as when the program runs; no code of the program is executed. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "distribute/packing/internal.h"
#include "util/proc.h"

extern char **environ;

/* Runs a program and calls each() for each line that it prints. */
static void lines_of(char *const argv[],
		     void (*each)(struct packing *p, const char *file, char *line),
		     struct packing *p, const char *file)
{
	posix_spawn_file_actions_t actions;
	char *line = NULL;
	size_t room = 0;
	FILE *in = NULL;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, fds[1], 1);
	posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&pid, argv[0], &actions, NULL, argv, environ) != 0)
		pid = -1;
	close(fds[1]);
	in = pid > 0 ? fdopen(fds[0], "r") : NULL;
	while (in && getline(&line, &room, in) > 0)
		each(p, file, line);
	if (in)
		fclose(in);
	else
		close(fds[0]);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	posix_spawn_file_actions_destroy(&actions);
	free(line);
}

static void library_add(struct packing *p, const char *name, const char *path)
{
	char *real = realpath(path, NULL);

	for (size_t i = 0; real && i < p->b->libraries.n; i++)
		if (strcmp(p->b->libraries.at[i].name, name) == 0) {
			if (strcmp(p->b->libraries.at[i].path, real + 1) != 0)
				tree_lack(
					p,
					"two libraries are called %s, /%s and %s: where the bundle runs, the first is used",
					name, p->b->libraries.at[i].path, real);
			free(real);
			return;
		}
	if (real && tree_add(p, path))
		*vec_add(&p->b->libraries) =
			(struct bundle_library){ xstrdup(name), xstrdup(real + 1) };
	free(real);
}

/* Reads a line "	NAME => PATH (0x...)" or "	PATH (0x...)" of the loader's list. */
static void line_read(struct packing *p, const char *file, char *line)
{
	char *name = line + strspn(line, " \t"), *arrow = strstr(line, " => "),
	     *path = arrow ? arrow + 4 : name, *end = strstr(path, " (0x");

	line[strcspn(line, "\n")] = 0;
	if (arrow && strncmp(path, "not found", 9) == 0) {
		*arrow = 0;
		tree_lack(p, "%s needs %s, which is not on this machine either", file, name);
		return;
	}
	if (!end || path[0] != '/')
		return;
	*end = 0;
	if (!arrow) {
		tree_add(p, path);
		return;
	}
	*arrow = 0;
	if (!strchr(name, '/'))
		library_add(p, name, path);
	else if (strcmp(name, path) != 0 || strstr(name, "/ld-") == NULL)
		tree_lack(
			p,
			"%s names its library %s by its path: that path must exist where the bundle runs",
			file, name);
}

/* Gives the path of the program's loader; free() it. NULL if the program has no loader.
 * *is_dynamic: the program has a dynamic section, so it may need libraries. */
static char *loader_of(int fd, const Elf64_Ehdr *h, bool *is_dynamic)
{
	char path[PATH_MAX], *found = NULL;
	Elf64_Phdr ph;

	*is_dynamic = false;
	for (unsigned i = 0; i < h->e_phnum; i++) {
		if (pread(fd, &ph, sizeof ph, (off_t)(h->e_phoff + i * sizeof ph)) !=
		    (ssize_t)sizeof ph)
			break;
		*is_dynamic |= ph.p_type == PT_DYNAMIC;
		if (ph.p_type == PT_INTERP && !found && ph.p_filesz > 1 &&
		    ph.p_filesz < sizeof path &&
		    pread(fd, path, ph.p_filesz, (off_t)ph.p_offset) == (ssize_t)ph.p_filesz)
			found = strndup(path, ph.p_filesz);
	}
	return found;
}

static void elf_add(struct packing *p, const char *file, int fd, const Elf64_Ehdr *h)
{
	bool is_dynamic;
	char *loader = loader_of(fd, h, &is_dynamic);

	if (loader && !p->loader)
		p->loader = xstrdup(loader);
	if (loader)
		tree_add(p, loader);
	else if (h->e_type == ET_EXEC)
		tree_lack(
			p,
			"%s is linked statically, so pmend does not see which files it opens: they are packed only if its command line names them",
			file);
	if (is_dynamic && (loader || (p->loader && strstr(file, ".so")))) {
		char *const argv[] = { loader ? loader : p->loader, (char *)"--list", (char *)file,
				       NULL };

		lines_of(argv, line_read, p, file);
	}
	free(loader);
}

static void script_add(struct packing *p, char *head)
{
	char *path = head + 2 + strspn(head + 2, " \t"), *word = path + strcspn(path, " \t\n"),
	     *program;

	if (*word && *word != '\n')
		*word++ = 0;
	else
		*word = 0, word = NULL;
	tree_add(p, path);
	if (!word || !strstr(path, "/env"))
		return;
	word += strspn(word, " \t");
	word[strcspn(word, " \t\n")] = 0;
	program = proc_find(word);
	if (program)
		tree_add(p, program);
	free(program);
}

void objects_add_needs(struct packing *p, const char *file)
{
	char head[256] = "";
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	Elf64_Ehdr h;
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof head - 1, 0);

	if (n >= (ssize_t)sizeof h && memcmp(head, ELFMAG, SELFMAG) == 0 &&
	    head[EI_CLASS] == ELFCLASS64) {
		memcpy(&h, head, sizeof h);
		if (h.e_phentsize == sizeof(Elf64_Phdr) &&
		    (h.e_type == ET_EXEC || h.e_type == ET_DYN)) {
			elf_add(p, file, fd, &h);
			debug_add(p, file);
		}
	} else if (n > 3 && memcmp(head, "#!", 2) == 0 && access(file, X_OK) == 0) {
		script_add(p, head);
	}
	if (fd >= 0)
		close(fd);
}
