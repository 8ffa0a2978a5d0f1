/* Would a seccomp filter let a system call pass? */
#ifndef SERVE_SANDBOX_H
#define SERVE_SANDBOX_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stdint.h>

/* Does the filter, of n instructions, let all these calls pass, with arguments of 0? One that sends
 * a signal or asks another process does not. */
bool sandbox_allows(const struct sock_filter *filter, uint32_t n, const int *calls,
		    uint32_t ncalls);

#endif
