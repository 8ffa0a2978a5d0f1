/* The files of another machine: where a bundle was unpacked, they are found under the paths that
 * they had there. The environment names that folder (RUN_ENV_ROOT), so that programs which pmend
 * starts, and libpmend_rt.so in them, know it, too. */
#ifndef UTIL_SYSROOT_H
#define UTIL_SYSROOT_H

#define SYSROOT_ENV_IDENTITY "PMEND_BUNDLE"

const char *sysroot(void); /* NULL: there is none */
/* Of the bundle, the same wherever it was unpacked: programs in it are not the same everywhere,
 * since each names its loader. NULL: there is none. */
const char *sysroot_identity(void);
/* Where the file with this path is: in the root if that has it, else where it says. free() it. */
char *sysroot_path(const char *path);
/* The path that a file in the root had; others are as they are. */
const char *sysroot_own(const char *path);
/* "LD_LIBRARY_PATH=..." for a program in the root; NULL: it is not there. free() it. */
char *sysroot_libraries(const char *program);
/* The current folder, by the path that it had; free() it, NULL: it is not known. */
char *sysroot_cwd(void);

#endif
