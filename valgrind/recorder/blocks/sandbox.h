/* Looks at the seccomp filters that the program installs: a filter that would refuse the recorder's
 * own system calls is not installed. */
#ifndef RECORDER_SANDBOX_H
#define RECORDER_SANDBOX_H

#include "pub_tool_tooliface.h"

/* Adds the check at the end of a block that makes a system call. */
void sandbox_add(IRSB *sb);

#endif
