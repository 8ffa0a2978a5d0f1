/* What /proc says about processes. */
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

/* All processes that can be seen now. */
void processes_init(struct processes *p);
void processes_release(struct processes *p);
/* Marks the descendants of `of` (0: of no one) and of every process that is marked. */
void processes_mark_descendants(struct processes *p, pid_t of);

/* How many threads all processes of a user have: RLIMIT_NPROC counts them. */
uint64_t processes_count_threads(uid_t uid);

/* Reads a small file, as a string; its length, or negative. */
long process_read(const char *path, char *buf, size_t room);
/* How many links a folder has, less its own two; `uid`: its owner. -1: there is none. */
long process_count_folders(const char *path, uid_t *uid);
/* Does /proc/PID/environ hold these bytes? */
bool process_environ_has(pid_t pid, const char *bytes, size_t len_bytes);
/* What a line of /proc/PID/status says in kB, such as "VmData:", in bytes; PID 0: of the process
 * that asks. 0: it is not there. */
uint64_t process_status_bytes(pid_t pid, const char *name);

#endif
