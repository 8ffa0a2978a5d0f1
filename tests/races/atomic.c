/* Words that are replaced by one store, which recovery takes as it finds them: no races, as long as the order is kept. Broken, two accounts become durable in
 * any order, and a node is linked before it has content.
 *	atomic POOL run [broken]
 *	atomic POOL recover */
#include "pm.h"

struct pool {
	LINE volatile uint64_t value;
	LINE volatile uint64_t from;
	LINE volatile uint64_t to;
	LINE volatile uint64_t head;
	LINE volatile uint64_t node;
	LINE volatile uint64_t large; /* whose lowest byte stays */
};

static void put(volatile uint64_t *word, uint64_t value)
{
	*word = value;
	pm_persist(word, sizeof *word);
}

static void transfer(struct pool *p, int is_broken)
{
	p->from = 90;
	pm_flush(&p->from, sizeof p->from);
	if (!is_broken)
		pm_drain();
	p->to = 110;
	pm_persist(&p->to, sizeof p->to);
}

static void recover(struct pool *p)
{
	printf("%lu %lu\n", p->value, p->large);
	printf("%lu\n", p->from); /* RACE: broken */
	printf("%lu\n", p->to); /* RACE: broken */
	if (p->head)
		printf("%lu\n", p->node); /* RACE: broken */
}

int main(int argc, char **argv)
{
	struct pool *p = pm_map(argv[1], sizeof *p);
	int is_broken = argc > 3;

	if (strcmp(argv[2], "recover") == 0) {
		recover(p);
		return 0;
	}
	p->value = 1;
	p->from = p->to = 100;
	p->large = 0x500;
	p->head = 0; /* as a store, so that this is a value and not the lack of one */
	pm_persist(p, sizeof *p);
	PMEND_ROI_BEGIN();
	put(&p->value, 2);
	put(&p->value, 3);
	put(&p->large, 0x600);
	put(&p->large, 0x700);
	transfer(p, is_broken);
	put(is_broken ? &p->head : &p->node, 1);
	put(is_broken ? &p->node : &p->head, 1);
	PMEND_ROI_END();
	return 0;
}
