/* Link-and-persist: a list whose head is stored with a mark and flushed; then the mark is cleared, which nobody flushes.
 *
 *	marked run|forgets POOL	adds nodes; the latter does not flush the marked head
 *	marked plain POOL	adds nodes; clears the mark by a release store
 *	marked list POOL	prints the list, whatever the mark	(right)
 *	marked tell POOL	says that there is a mark		(wrong) */
#include "pm.h"

#define MARK ((uint64_t)1)

struct node {
	_Alignas(64) uint64_t key, next; /* offsets, 0: none */
};

struct pool {
	_Alignas(64) uint64_t head;
	struct node nodes[3];
};

static void swap(uint64_t *word, uint64_t from, uint64_t to)
{
	CHECK(__sync_bool_compare_and_swap(word, from, to)); /* the mark */
}

static void add(struct pool *p, struct node *n, int is_careful, int is_plain)
{
	const uint64_t old = p->head, new = (uint64_t)((char *)n - (char *)p);

	n->key = new / 64;
	n->next = old;
	persist(n, sizeof *n);
	CHECK(__sync_bool_compare_and_swap(&p->head, old, new | MARK));
	if (is_careful)
		persist(&p->head, sizeof p->head);
	if (is_plain)
		__atomic_store_n(&p->head, new, __ATOMIC_RELEASE); /* the plain mark */
	else
		swap(&p->head, new | MARK, new);
}

static void list(const struct pool *p, int wants_mark)
{
	if (p && wants_mark && (p->head & MARK))
		printf("marked\n");
	for (uint64_t at = p ? p->head & ~MARK : 0; at; at = ((const struct node *)((const char *)p + at))->next)
		printf("%d\n", (int)((const struct node *)((const char *)p + at))->key);
}

int main(int argc, char **argv)
{
	struct pool *p;

	CHECK(argc == 3);
	if (strcmp(argv[1], "list") == 0 || strcmp(argv[1], "tell") == 0) {
		list(pool_open(argv[2], sizeof *p), argv[1][0] == 't');
		return 0;
	}
	p = pool_create(argv[2], sizeof *p);
	for (int i = 0; i < 3; i++)
		add(p, &p->nodes[i], argv[1][0] != 'f', argv[1][0] == 'p');
	return 0;
}
