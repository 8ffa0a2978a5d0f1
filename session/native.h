/* Which architecture this machine has: what is recorded and run here is of that one. */
#ifndef SESSION_NATIVE_H
#define SESSION_NATIVE_H

#include "model/model.h"

const char *native_isa(void);			     /* "amd64" or "arm64" */
bool native_has(const struct platform *p);	     /* are its instructions this machine's? */
const struct platform *native_platform(void);	     /* the default one */

#endif
