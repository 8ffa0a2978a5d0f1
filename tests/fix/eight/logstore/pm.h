/* pm.h - write-back of persistent memory */
#ifndef LOGSTORE_PM_H
#define LOGSTORE_PM_H

#include <stddef.h>

void pm_flush(const void *p, size_t len); /* needs a fence before anything may rely on it */
void pm_fence(void);
void pm_persist(const void *p, size_t len);

#endif
