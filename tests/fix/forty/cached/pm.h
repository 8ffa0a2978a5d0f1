/* Writing back to persistent memory. */
#ifndef PM_H
#define PM_H

#ifdef WITH_PM
#include <stddef.h>

/* Maps the file, and makes it if it is not there. NULL if that fails. */
void *pm_attach(const char *path, size_t size);
void pm_flush(const void *addr, size_t len);
void pm_drain(void);

static inline void pm_persist(const void *addr, size_t len)
{
	pm_flush(addr, len);
	pm_drain();
}
#endif

#endif
