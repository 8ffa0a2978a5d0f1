/* pm.h - how this machine writes lines of its cache back */
#ifndef LIMITS_PM_H
#define LIMITS_PM_H

#include <stddef.h>

struct pm_ops {
	const char *name;
	void (*clean)(const void *p, size_t n); /* starts writing back */
	void (*order)(void);			/* waits until that is done */
};

/* The best that there is, or the one of that name; NULL if there is none. */
const struct pm_ops *pm_ops_find(const char *name);

#endif
