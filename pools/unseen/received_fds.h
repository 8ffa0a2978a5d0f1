/* Keeps descriptors of the PM files of a recording. The recorder sends them while it runs, so a
 * file can be read at the end even if the program removed it. */
#ifndef POOLS_UNSEEN_RECEIVED_FDS_H
#define POOLS_UNSEEN_RECEIVED_FDS_H

#include <stdint.h>

struct kept;

/* Makes the socket. NULL if that is impossible. The recorder's end gets the number from_fd or a
 * higher one. */
struct kept *kept_new(int from_fd);
int kept_socket(const struct kept *k, uint64_t *inode); /* the recorder's end */
/* Receives the descriptors that have come so far, without waiting. */
void kept_receive(struct kept *k);
uint32_t kept_n(const struct kept *k); /* one more than the highest file number */
/* Gives the descriptor of a file by the trace's number of the file; -1 if there is none. It stays
 * k's own. */
int kept_fd(struct kept *k, uint32_t file);
void kept_free(struct kept *k); /* k may be NULL */

#endif
