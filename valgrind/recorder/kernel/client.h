/* Reads strings and paths from the program's memory. An invalid string is given as "". */
#ifndef REC_CLIENT_H
#define REC_CLIENT_H

#include "valgrind/recorder/out/basics.h"

const HChar *client_string(UWord a);
/* Gives the path at address a, which may be relative to the folder of dirfd: in the buffer, or
 * where it was. */
const HChar *client_path_at(HChar *buf, SizeT cap, Int dirfd, UWord a);
/* Like client_path_at(), but gives an absolute path, which stays valid. */
const HChar *client_absolute_path_at(HChar *buf, SizeT cap, Int dirfd, UWord a);

#endif
