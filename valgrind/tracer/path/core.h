/* Declares functions of Valgrind's core that the public tool interface lacks. */
#ifndef TRACER_CORE_H
#define TRACER_CORE_H

#include "pub_tool_basics.h"
#include "pub_tool_vki.h"

Int VG_(safe_fd)(Int fd); /* moves it to a number that the program cannot close */
Int VG_(getsockname)(Int fd, struct vki_sockaddr *name, Int *len);

#endif
