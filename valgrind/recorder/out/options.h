/* The options of the recorder; main.c reads them from the command line. */
#ifndef REC_OPTIONS_H
#define REC_OPTIONS_H

#include "pub_tool_basics.h"

extern const HChar *clo_trace_file, *clo_platform, *clo_scratch_pool;
extern Bool clo_loads, clo_instructions, clo_check_stacks, clo_stop_at_old, clo_follow;

#endif
