/* The sysroot: the folder into which a bundle of another machine was unpacked. In it, files have
 * the paths that they had on that machine. The environment names it (RUN_ENV_ROOT), so programs
 * that pmend starts, with libpmend_rt.so inside, know it, too. */
#ifndef UTIL_SYSROOT_H
#define UTIL_SYSROOT_H

#define SYSROOT_ENV_IDENTITY "PMEND_BUNDLE"

const char *sysroot(void); /* NULL without a bundle */
/* Identifies the bundle, wherever it was unpacked. The bundle's programs cannot do that: each of
 * them names the path of its loader, so they differ between unpacked copies. NULL without a
 * bundle. */
const char *sysroot_identity(void);
/* Gives the file's path inside the sysroot if the file exists there, else the path itself. free()
 * it. */
char *sysroot_path(const char *path);
/* Turns a path inside the sysroot into the path that the file had; other paths stay. */
const char *sysroot_own(const char *path);
/* Gives "LD_LIBRARY_PATH=..." for a program inside the sysroot, NULL for others. free() it. */
char *sysroot_libraries(const char *program);
/* Gives the current folder, by the path that it had on the other machine. NULL if unknown. free()
 * it. */
char *sysroot_cwd(void);

#endif
