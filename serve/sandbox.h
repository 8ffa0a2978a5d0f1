/* Finds out whether a seccomp filter allows system calls. */
#ifndef SERVE_SANDBOX_H
#define SERVE_SANDBOX_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

/* Does the filter, of n instructions, allow all these calls with arguments of 0? A filter that
 * sends a signal or asks another process does not count as allowing. */
bool sandbox_allows(const struct sock_filter *filter, uint32_t n, const int *calls,
		    uint32_t ncalls);

#endif
