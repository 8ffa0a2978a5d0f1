/* The tracer's options with their defaults. Those about the input are in sources.c. */
#include "valgrind/tracer/value/options.h"

const HChar *clo_path_file;
Bool clo_check;
