/* Defines the options of the recorder, with their defaults. */
#include "valgrind/recorder/out/options.h"

const HChar *clo_trace_file, *clo_platform = "x86-adr", *clo_scratch_pool, *clo_scratch_dir,
			     *clo_memory_file;
Int clo_keep_fd = -1;
ULong clo_keep_inode, clo_memory_inode;
Bool clo_loads, clo_threads, clo_instructions, clo_check_stacks, clo_stop_at_old,
	clo_follow = True, clo_platform_open, clo_old_bytes, clo_schedule;
ULong clo_schedule_seed, clo_schedule_span;
UInt clo_schedule_changes, clo_hold_skip;
