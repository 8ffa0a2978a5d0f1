/* Reads what /proc says about processes. */
#ifndef SERVE_PROCESSES_H
#define SERVE_PROCESSES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process {
	pid_t pid, parent;
	bool is_marked;
};

struct processes {
	struct process *at;
	size_t n, room;
};

/* Fills p with a list of all processes that are visible now. */
void processes_init(struct processes *p);
void processes_release(struct processes *p);
/* Marks all descendants of the process `of` (0: of no process) and of every process that is marked
 * already. */
void processes_mark_descendants(struct processes *p, pid_t of);

/* Counts the threads of all processes of a user, as RLIMIT_NPROC does. */
uint64_t processes_count_threads(uid_t uid);

/* Reads a small file as a string. Gives its length, or a negative number. */
long process_read(const char *path, char *buf, size_t room);
/* Counts the folders in a folder: the links of the folder, less the two that every folder has. Sets
 * *uid to the folder's owner. -1 if there is no such folder. */
long process_count_folders(const char *path, uid_t *uid);
/* Does /proc/PID/environ contain these bytes? */
bool process_environ_has(pid_t pid, const char *bytes, size_t len_bytes);
/* Gives the value of a line of /proc/PID/status, such as "VmData:", in bytes (the file says kB).
 * pid 0 is the calling process. 0 if there is no such line. */
uint64_t process_status_bytes(pid_t pid, const char *name);

#endif
