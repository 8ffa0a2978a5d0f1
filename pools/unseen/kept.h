/* Descriptors of the PM files of a recording, which the recorder sends while it runs: a file can be
 * read at the end, even if the program removed it. */
#ifndef POOLS_UNSEEN_KEPT_H
#define POOLS_UNSEEN_KEPT_H

#include <stdint.h>

struct kept;

/* NULL: there is no socket to be had. from_fd: the recorder's end gets this number or one above
 * it */
struct kept *kept_new(int from_fd);
int kept_socket(const struct kept *k, uint64_t *inode); /* the recorder's end */
void kept_receive(struct kept *k);                      /* what has come so far; nobody waits */
uint32_t kept_n(const struct kept *k);      /* one more than the largest number of a file */
int kept_fd(struct kept *k, uint32_t file); /* by the trace's number, -1: none. It stays k's */
void kept_free(struct kept *k);             /* NULL is fine */

#endif
