/* Defines the tracer's options with their defaults. Options about the input are in sources.c. */
#include "valgrind/tracer/value/options.h"

const HChar *clo_path_file;
Bool clo_check;
