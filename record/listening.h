/* Finds out whether processes listen on sockets. It does not connect to them, because a server may
 * count its connections. */
#ifndef RECORD_LISTENING_H
#define RECORD_LISTENING_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Does a descendant of this process listen on the TCP port? 0: on any TCP port or Unix socket. */
bool listening_is(pid_t of, uint16_t port);
/* Says on which ports and sockets descendants of this process listen; free() it. */
char *listening_tell(pid_t of);

#endif
