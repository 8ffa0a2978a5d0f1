/* Defines the options of the recorder, with their defaults. */
#include "valgrind/recorder/out/options.h"

const HChar *clo_trace_file, *clo_platform = "x86-adr", *clo_scratch_pool, *clo_scratch_dir;
Int clo_keep_fd = -1;
ULong clo_keep_inode;
Bool clo_loads, clo_threads, clo_instructions, clo_check_stacks, clo_stop_at_old,
	clo_follow = True, clo_platform_open, clo_old_bytes;
