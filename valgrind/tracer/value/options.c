/* The options of the tracer, with what they are when nobody says otherwise. Those about the input
 * are in sources.c. */
#include "valgrind/tracer/value/options.h"

const HChar *clo_path_file;
Bool clo_check;
