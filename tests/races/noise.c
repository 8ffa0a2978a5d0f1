/* Reads that race by the letter, and harm nobody: all of it is right, and nothing may be found.
 *	noise POOL run
 *	noise POOL recover */
#include "pm.h"

#define SLOTS 8

struct pool {
	LINE volatile uint64_t hits;  /* durable with the next operation, or never */
	LINE volatile uint64_t opens; /* of which recovery makes one more */
	LINE volatile uint64_t free_slots; /* a hint, which recovery counts anew */
	struct {
		LINE volatile uint64_t value;
		volatile uint64_t key; /* stored last: the slot is used */
	} slots[SLOTS];
	struct {
		LINE volatile uint64_t value;
		volatile uint64_t version, changed; /* each of them stored by itself, in one line */
	} node;
	struct {
		LINE volatile uint64_t len;
		LINE volatile uint64_t data[16];
		LINE volatile uint64_t sum; /* of all that is above */
	} records[3]; /* each written once */
};

static uint64_t sum_of(uint64_t len, const volatile uint64_t *data)
{
	uint64_t sum = 14695981039346656037u ^ len;

	for (uint64_t i = 0; i < len; i++)
		sum = (sum ^ data[i]) * 1099511628211u;
	return sum;
}

static void put_slot(struct pool *p, uint64_t i)
{
	p->slots[i].value = i * 100;
	__atomic_thread_fence(__ATOMIC_RELEASE); /* the value before the key, on machines that do not keep stores in order */
	p->slots[i].key = i + 1;
	pm_persist(&p->slots[i], sizeof p->slots[i]);
	p->free_slots--;
	pm_flush(&p->free_slots, sizeof p->free_slots);
}

static void change_node(struct pool *p, uint64_t value)
{
	p->node.value = value;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	p->node.version++;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	p->node.changed = value * 10;
	pm_persist(&p->node, sizeof p->node);
}

static void put_record(struct pool *p, uint64_t number, uint64_t len)
{
	p->records[number].len = len;
	for (uint64_t i = 0; i < len; i++)
		p->records[number].data[i] = len * 1000 + i;
	p->records[number].sum = sum_of(len, p->records[number].data);
	pm_persist(&p->records[number], sizeof p->records[number]);
}

static void count_hit(struct pool *p)
{
	p->hits++;
	pm_flush(&p->hits, sizeof p->hits); /* the next fence is another operation's */
}

static void recover(struct pool *p)
{
	uint64_t n_free = 0;

	(void)p->hits; /* a result that nobody takes */
	p->opens++;
	pm_persist(&p->opens, sizeof p->opens);
	for (int i = 0; i < SLOTS; i++) {
		uint64_t value = p->slots[i].value, key = p->slots[i].key; /* the value first */

		if (key)
			printf("%lu %lu\n", key, value);
		n_free += !key;
	}
	if (p->free_slots != n_free) {
		p->free_slots = n_free;
		pm_persist(&p->free_slots, sizeof p->free_slots);
	}
	printf("node %lu %lu %lu\n", p->node.value, p->node.version, p->node.changed);
	for (int i = 0; i < 3; i++) {
		uint64_t len = p->records[i].len;

		if (len <= 16 && p->records[i].sum == sum_of(len, p->records[i].data))
			printf("record of %lu\n", len);
	}
}

int main(int argc, char **argv)
{
	struct pool *p = pm_map(argv[1], sizeof *p);

	if (argc > 2 && strcmp(argv[2], "recover") == 0) {
		recover(p);
		return 0;
	}
	p->free_slots = SLOTS;
	p->node.value = p->node.version = p->node.changed = 1;
	p->hits = p->opens = 0;
	pm_persist(p, sizeof *p);
	PMEND_ROI_BEGIN();
	p->opens++;
	pm_flush(&p->opens, sizeof p->opens);
	for (uint64_t i = 0; i < 3; i++) {
		put_slot(p, i);
		count_hit(p);
		change_node(p, i + 7);
		count_hit(p);
		put_record(p, i, 3 + i);
	}
	pm_drain();
	PMEND_ROI_END();
	return 0;
}
