/* Finds what a binary was linked from: the sources of its compile units, by its debug information,
 * and the shared libraries that it needs. Objects of a static library are seen as sources if they
 * have debug information, otherwise not at all. */
#include "repair/verify/linked.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/alloc.h"

static const char *attribute(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute a;

	return dwarf_attr(die, name, &a) ? dwarf_formstring(&a) : NULL;
}

static void add_source(struct linked *l, Dwarf_Die *unit)
{
	const char *name = attribute(unit, DW_AT_name), *folder = attribute(unit, DW_AT_comp_dir);
	char *path = !name                       ? NULL
		     : name[0] == '/' || !folder ? xstrdup(name)
						 : xasprintf("%s/%s", folder, name),
	     *real = path ? realpath(path, NULL) : NULL;

	/* sources of others, such as the C library's start code, do not exist here */
	if (real)
		*vec_add(&l->sources) = real;
	free(path);
}

static void read_units(struct linked *l, Dwarf *d)
{
	Dwarf_CU *cu = NULL;
	Dwarf_Die die;
	uint8_t type;

	while (dwarf_get_units(d, cu, &cu, NULL, &type, &die, NULL) == 0)
		if (type == DW_UT_compile)
			add_source(l, &die);
}

static void read_dynamic(struct linked *l, Elf *elf, Elf_Scn *section, const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	GElf_Dyn entry;

	for (int i = 0; data && gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
		const char *text = elf_strptr(elf, header->sh_link, entry.d_un.d_val);

		if (entry.d_tag == DT_NEEDED && text)
			*vec_add(&l->libraries) = xstrdup(text);
		if ((entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH) && text && !l->runpath)
			l->runpath = xstrdup(text);
	}
}

static void read_sections(struct linked *l, Elf *elf)
{
	Elf_Scn *section = NULL;
	GElf_Shdr header;

	while ((section = elf_nextscn(elf, section)))
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_DYNAMIC)
			read_dynamic(l, elf, section, &header);
}

int linked_open(struct linked *l, const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	Dwarf *d;

	*l = (struct linked){ 0 };
	if (fd < 0)
		return error_set(err, "cannot open %s: %s", path, strerror(errno));
	elf_version(EV_CURRENT);
	d = dwarf_begin(fd, DWARF_C_READ);
	if (d) {
		read_units(l, d);
		read_sections(l, dwarf_getelf(d));
		dwarf_end(d);
	}
	close(fd);
	return d ? 0 : error_set(err, "%s is not a program with debug information", path);
}

void linked_close(struct linked *l)
{
	for (size_t i = 0; i < l->sources.n; i++)
		free(l->sources.at[i]);
	for (size_t i = 0; i < l->libraries.n; i++)
		free(l->libraries.at[i]);
	vec_release(&l->sources);
	vec_release(&l->libraries);
	free(l->runpath);
}

bool linked_has(const struct linked *l, const char *source)
{
	for (size_t i = 0; i < l->sources.n; i++)
		if (strcmp(l->sources.at[i], source) == 0)
			return true;
	return false;
}
