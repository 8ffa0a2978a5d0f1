/* Declares the options of the recorder; main.c reads them from the command line. */
#ifndef REC_OPTIONS_H
#define REC_OPTIONS_H

#include "pub_tool_basics.h"

extern const HChar *clo_trace_file, *clo_platform, *clo_scratch_pool, *clo_scratch_dir;
extern Int clo_keep_fd;      /* a socket to which descriptors of PM files are sent; -1: none */
extern ULong clo_keep_inode; /* of that socket, because the program may reuse its number */
/* memory that all recorded processes share, and its inode; NULL: there is none */
extern const HChar *clo_memory_file;
extern ULong clo_memory_inode;
extern Bool clo_loads, clo_threads, clo_instructions, clo_check_stacks, clo_stop_at_old, clo_follow,
	clo_platform_open;
/* fill memory that had other contents before with pmt_old_bytes() when the program gets it */
extern Bool clo_old_bytes;
/* threads run in an order that the seed gives; without a seed, none changes its turn */
extern Bool clo_schedule;
extern ULong clo_schedule_seed;
extern UInt clo_schedule_changes; /* so many change points … */
extern ULong clo_schedule_span;   /* … among so many points */
extern UInt clo_hold_skip;        /* executions of the place of --hold-store that pass */

#endif
