/* Packs separate debug files, and the sources that the user's objects name, because reports show
 * source lines and identify bugs by them. libdw finds the files, as it does for reports. */
#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "distribute/packing/internal.h"
#include "trace/owner.h"

static void source_add(struct packing *p, const char *folder, const char *name)
{
	char *path = name[0] == '/' ? xstrdup(name)
				    : xasprintf("%s/%s", folder && *folder ? folder : "", name);

	tree_add(p, path);
	free(path);
	if (name[0] != '/') { /* reports also look in the current folder */
		path = xasprintf("/%s/%s", p->b->cwd, name);
		tree_add(p, path);
		free(path);
	}
}

static void sources_add(struct packing *p, Dwfl_Module *module)
{
	Dwarf_Die *cu = NULL;
	Dwarf_Addr bias;

	while ((cu = dwfl_module_nextcu(module, cu, &bias))) {
		Dwarf_Attribute attr;
		const char *folder =
			dwarf_attr(cu, DW_AT_comp_dir, &attr) ? dwarf_formstring(&attr) : NULL;
		Dwarf_Files *files;
		size_t n;

		if (dwarf_getsrcfiles(cu, &files, &n) != 0)
			continue;
		for (size_t i = 0; i < n; i++) {
			const char *name = dwarf_filesrc(files, i, NULL, NULL);

			if (name && *name && strcmp(name, "???") != 0)
				source_add(p, folder, name);
		}
	}
}

/* Packs the file that several debug files share (made by dwz). */
static void shared_add(struct packing *p, Dwarf *dwarf, const char *debug_file)
{
	const char *name;
	const void *id;
	char *copy, *path;

	if (dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) <= 0)
		return;
	copy = xstrdup(debug_file);
	path = name[0] == '/' ? xstrdup(name) : xasprintf("%s/%s", dirname(copy), name);
	tree_add(p, path);
	free(path);
	free(copy);
}

void debug_add(struct packing *p, const char *file)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	const char *main_file = NULL, *debug_file = NULL;
	Dwfl *dwfl = dwfl_begin(&callbacks);
	Dwfl_Module *module;
	Dwarf_Addr bias;
	Dwarf *dwarf;

	if (!dwfl)
		return;
	dwfl_report_begin(dwfl);
	module = dwfl_report_elf(dwfl, file, file, -1, 0, true);
	if (dwfl_report_end(dwfl, NULL, NULL) == 0 && module &&
	    (dwarf = dwfl_module_getdwarf(module, &bias))) {
		dwfl_module_info(module, NULL, NULL, NULL, NULL, NULL, &main_file, &debug_file);
		if (debug_file)
			tree_add(p, debug_file);
		shared_add(p, dwarf, debug_file ? debug_file : file);
		if (owner_of_object(file) == OWNER_USER)
			sources_add(p, module);
	}
	dwfl_end(dwfl);
}
