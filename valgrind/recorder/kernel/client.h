/* Strings of the program. If one is invalid, "" is given. */
#ifndef REC_CLIENT_H
#define REC_CLIENT_H

#include "valgrind/recorder/out/basics.h"

const HChar *client_string(UWord a);
/* A path that is relative to the folder of dirfd; in the buffer, or where it was. */
const HChar *client_path_at(HChar *buf, SizeT cap, Int dirfd, UWord a);
/* as an absolute path, which stays valid */
const HChar *client_absolute_path_at(HChar *buf, SizeT cap, Int dirfd, UWord a);

#endif
