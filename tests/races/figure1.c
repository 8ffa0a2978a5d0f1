/* XFDetector's Figure 1: a list whose head is undone after a crash, and whose length is not.
 *	figure1 POOL run | recover | recover_alt */
#include "pm.h"

#define NODES 4

struct pool {
	LINE volatile uint64_t head; /* number of a node, 0: none */
	LINE volatile uint64_t length;
	LINE volatile uint64_t version; /* always 0 */
	LINE volatile uint64_t log_valid;
	LINE volatile uint64_t log_head;
	struct { LINE volatile uint64_t next; } nodes[NODES];
};

static void append(struct pool *p, uint64_t node)
{
	p->log_head = p->head;
	pm_persist(&p->log_head, 8);
	p->log_valid = 1;
	pm_persist(&p->log_valid, 8);
	p->nodes[node].next = p->head;
	pm_persist(&p->nodes[node], 8);
	p->head = node;
	p->length++;
	p->version = 0;
	pm_flush(&p->version, 8);
	pm_persist(&p->head, 8);
	p->log_valid = 0;
	pm_persist(&p->log_valid, 8);
}

static void undo(struct pool *p)
{
	if (!p->log_valid)
		return;
	p->head = p->log_head;
	pm_persist(&p->head, 8);
	p->log_valid = 0;
	pm_persist(&p->log_valid, 8);
}

static void count_again(struct pool *p)
{
	uint64_t count = 0;

	for (uint64_t n = p->head; n; n = p->nodes[n].next)
		count++;
	p->length = count;
	pm_persist(&p->length, 8);
}

static void pop(struct pool *p)
{
	if (p->version) /* RACE: strict */
		exit(1);
	if (p->length && p->head) { /* RACE: recover */ /* SEMANTIC: declared */
		p->head = p->nodes[p->head].next; /* SEMANTIC: declared */
		p->length--;
	}
}

int main(int argc, char **argv)
{
	struct pool *p = pm_map(argv[1], sizeof *p);

	(void)argc;
	if (strcmp(argv[2], "run") == 0) {
		append(p, 1);
		append(p, 2);
		return 0;
	}
	undo(p);
	if (strcmp(argv[2], "recover_alt") == 0)
		count_again(p);
	pop(p);
	return 0;
}
