/* Sorted arrays of pairs. They make up the table in DRAM, and the leaves on
 * persistent memory. The functions know nothing of either: who calls them on
 * a leaf has it in a transaction. */
#ifndef NODE_H
#define NODE_H

#include <stdbool.h>
#include <stdint.h>

#define NODE_MAX 6

struct node {
	uint64_t n;
	uint64_t keys[NODE_MAX];
	uint64_t vals[NODE_MAX];
};

/* How far a reader came. */
struct cursor {
	uint64_t key;
};

static inline bool node_full(const struct node *node)
{
	return node->n == NODE_MAX;
}

/* The place of the key, or the one where it belongs. */
unsigned node_find(const struct node *node, uint64_t key);
bool node_has(const struct node *node, uint64_t key);

/* Returns whether the key is new. The node must have room for it. */
bool node_put(struct node *node, uint64_t key, uint64_t val);
/* Returns whether the key was there. */
bool node_del(struct node *node, uint64_t key);
/* Moves the upper half to an empty node. */
void node_split(struct node *node, struct node *upper);

void cursor_advance(struct cursor *cursor, uint64_t key);

#endif
