/* Strings of the program, which may be no strings at all: then "" stands for them. */
#ifndef REC_CLIENT_H
#define REC_CLIENT_H

#include "valgrind/recorder/out/basics.h"

const HChar *client_string(UWord a);
/* A path relative to the folder that dirfd stands for; in the buffer, or where it was. */
const HChar *client_path_at(HChar *buf, SizeT cap, Int dirfd, UWord a);
/* as a name that means something later, too */
const HChar *client_absolute_path_at(HChar *buf, SizeT cap, Int dirfd, UWord a);

#endif
