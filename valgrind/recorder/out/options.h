/* The options of the recorder; main.c reads them from the command line. */
#ifndef REC_OPTIONS_H
#define REC_OPTIONS_H

#include "pub_tool_basics.h"

extern const HChar *clo_trace_file, *clo_platform, *clo_scratch_pool, *clo_scratch_dir;
extern Int clo_keep_fd;      /* a socket: descriptors of PM files go there; -1: none */
extern ULong clo_keep_inode; /* of that socket: the program may use its number for something else */
extern Bool clo_loads, clo_threads, clo_instructions, clo_check_stacks, clo_stop_at_old, clo_follow,
	clo_platform_open;
/* what the program is handed, and held something before, holds pmt_old_bytes() */
extern Bool clo_old_bytes;

#endif
