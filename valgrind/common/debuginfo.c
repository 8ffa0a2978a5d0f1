/* Keeps Valgrind's core from reading debug information. The tools never unwind or name lines (pmend
 * does, from the trace), but the core would read that of every loaded object, including libc's from
 * its debug package: for a small program that is most of a run's time, for a large one gigabytes.
 * Symbol tables are still read, because tools look for functions by name. The linker puts these
 * functions before the core's (--wrap in valgrind.mk). */
#include "valgrind/common/debuginfo.h"

#include "pub_tool_libcbase.h"

void *__real_vgModuleLocal_img_from_local_file(const HChar *path);
void *__wrap_vgModuleLocal_img_from_local_file(const HChar *path);
void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void);
HChar *__real_vgPlain_getenv(const HChar *name);
HChar *__wrap_vgPlain_getenv(const HChar *name);

static Bool is_debug_file(const HChar *path)
{
	static const HChar folder[] = "/usr/lib/debug/", suffix[] = ".debug";
	SizeT len = VG_(strlen)(path);

	return VG_(strncmp)(path, folder, sizeof folder - 1) == 0 ||
	       (len >= sizeof suffix - 1 &&
		VG_(strcmp)(path + len - (sizeof suffix - 1), suffix) == 0);
}

void *__wrap_vgModuleLocal_img_from_local_file(const HChar *path)
{
	return is_debug_file(path) ? NULL : __real_vgModuleLocal_img_from_local_file(path);
}

/* Does nothing in place of the core's function, which would read lines and arguments. Nobody needs
 * them. */
void __wrap_vgModuleLocal_read_debuginfo_dwarf3(void)
{
}

Bool g_unwinds; /* if it is set, arch/ lets the core read unwind information */

/* Gives a variable of the environment, but hides the one that names servers of debug files: without
 * these files, the core would ask the servers. */
HChar *__wrap_vgPlain_getenv(const HChar *name)
{
	return VG_(strcmp)(name, "DEBUGINFOD_URLS") == 0 ? NULL : __real_vgPlain_getenv(name);
}
