/* Declares the tracer's options; main.c reads them from the command line. */
#ifndef TRACER_OPTIONS_H
#define TRACER_OPTIONS_H

#include "pub_tool_basics.h"

extern const HChar *clo_path_file;
extern Bool clo_check; /* compare each value with the machine's */

#endif
