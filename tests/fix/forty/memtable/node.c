#include <assert.h>
#include <string.h>

#include "node.h"

unsigned node_find(const struct node *node, uint64_t key)
{
	unsigned i = 0;

	while (i < node->n && node->keys[i] < key)
		i++;
	return i;
}

bool node_has(const struct node *node, uint64_t key)
{
	unsigned i = node_find(node, key);

	return i < node->n && node->keys[i] == key;
}

bool node_put(struct node *node, uint64_t key, uint64_t val)
{
	unsigned i = node_find(node, key);

	if (i < node->n && node->keys[i] == key) {
		node->vals[i] = val;
		return false;
	}
	assert(!node_full(node));
	memmove(&node->keys[i + 1], &node->keys[i], (node->n - i) * sizeof(node->keys[0]));
	memmove(&node->vals[i + 1], &node->vals[i], (node->n - i) * sizeof(node->vals[0]));
	node->keys[i] = key;
	node->vals[i] = val;
	node->n++;
	return true;
}

bool node_del(struct node *node, uint64_t key)
{
	unsigned i = node_find(node, key);

	if (i == node->n || node->keys[i] != key)
		return false;
	node->n--;
	memmove(&node->keys[i], &node->keys[i + 1], (node->n - i) * sizeof(node->keys[0]));
	memmove(&node->vals[i], &node->vals[i + 1], (node->n - i) * sizeof(node->vals[0]));
	return true;
}

void node_split(struct node *node, struct node *upper)
{
	unsigned half = node->n / 2;

	upper->n = node->n - half;
	memcpy(upper->keys, &node->keys[half], upper->n * sizeof(upper->keys[0]));
	memcpy(upper->vals, &node->vals[half], upper->n * sizeof(upper->vals[0]));
	node->n = half;
}

void cursor_advance(struct cursor *cursor, uint64_t key)
{
	if (key > cursor->key)
		cursor->key = key;
}
