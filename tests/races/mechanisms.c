/* The six mechanisms of XFDetector's Table 1 in one pool, each used for two updates; "broken" leaves out one thing of each.
 *	mechanisms POOL run|recover [broken]
 * A line with RACE: broken is reported as the reading one of a cross-failure race in the broken run; nothing is in the other. */
#include "pm.h"

struct logged {
	LINE volatile uint64_t valid;
	LINE volatile uint64_t index;
	volatile uint64_t value;
	LINE volatile uint64_t data[8];
};

struct versions {
	LINE volatile uint64_t current; /* index of the version that counts, or offset of it */
	struct { LINE volatile uint64_t data[4]; } slots[4];
};

struct pool {
	struct logged undo, redo, operation;
	struct versions checkpoint, shadow;
	struct {
		LINE volatile uint64_t data[3];
		LINE volatile uint64_t sum;
	} record;
};

static int g_is_broken;

/* ---- undo: the old value is in the log before the new one is in place ---- */

static void undo_update(struct logged *l, uint64_t index, uint64_t value)
{
	l->index = index;
	l->value = l->data[index];
	pm_flush(&l->index, 16);
	if (!g_is_broken)
		pm_drain();
	l->valid = 1;
	pm_persist(&l->valid, 8);
	l->data[index] = value;
	pm_persist(&l->data[index], 8);
	l->valid = 0;
	pm_persist(&l->valid, 8);
}

static void undo_recover(struct logged *l)
{
	if (l->valid) {
		uint64_t index = l->index; /* RACE: broken */
		uint64_t value = l->value; /* RACE: broken */

		l->data[index] = value;
		pm_persist(&l->data[index], 8);
		l->valid = 0;
		pm_persist(&l->valid, 8);
	}
	for (int i = 0; i < 8; i++)
		printf("%lu ", l->data[i]);
}

/* ---- redo: the new value is in the log before it is in place ---- */

static void redo_update(struct logged *l, uint64_t index, uint64_t value)
{
	l->index = index;
	l->value = value;
	pm_flush(&l->index, 16);
	if (!g_is_broken)
		pm_drain();
	l->valid = 1;
	pm_persist(&l->valid, 8);
	l->data[index] = value;
	pm_persist(&l->data[index], 8);
	l->valid = 0;
	pm_persist(&l->valid, 8);
}

static void redo_recover(struct logged *l)
{
	if (l->valid) {
		uint64_t index = l->index; /* RACE: broken */
		uint64_t value = l->value; /* RACE: broken */

		l->data[index] = value;
		pm_persist(&l->data[index], 8);
		l->valid = 0;
		pm_persist(&l->valid, 8);
	}
	for (int i = 0; i < 8; i++)
		printf("%lu ", l->data[i]);
}

/* ---- operational logging: what is to be done, which may be done again ---- */

static void operation_update(struct logged *l, uint64_t index, uint64_t value)
{
	l->index = index;
	l->value = value;
	pm_persist(&l->index, 16);
	l->valid = 1;
	pm_persist(&l->valid, 8);
	l->data[index] = value * value;
	if (!g_is_broken)
		pm_persist(&l->data[index], 8);
	l->valid = 0;
	pm_persist(&l->valid, 8);
	if (g_is_broken)
		pm_persist(&l->data[index], 8);
}

static void operation_recover(struct logged *l)
{
	if (l->valid) {
		uint64_t index = l->index, value = l->value;

		l->data[index] = value * value;
		pm_persist(&l->data[index], 8);
		l->valid = 0;
		pm_persist(&l->valid, 8);
	}
	for (int i = 0; i < 8; i++)
		printf("%lu ", l->data[i]); /* RACE: broken */
}

/* ---- checkpoints: two, of which one counts ---- */

static void checkpoint_update(struct versions *v, uint64_t value)
{
	uint64_t next = 1 - v->current;

	for (int i = 0; i < 4; i++)
		v->slots[next].data[i] = value + (uint64_t)i;
	pm_flush(v->slots[next].data, 32);
	if (!g_is_broken)
		pm_drain();
	v->current = next;
	pm_persist(&v->current, 8);
}

static void checkpoint_recover(struct versions *v)
{
	uint64_t current = v->current;

	for (int i = 0; i < 4; i++)
		printf("%lu ", v->slots[current].data[i]); /* RACE: broken */
}

/* ---- shadow paging: a new copy, then the pointer ---- */

static void shadow_update(struct versions *v, uint64_t slot, uint64_t value)
{
	for (int i = 0; i < 4; i++)
		v->slots[slot].data[i] = v->slots[v->current].data[i];
	v->slots[slot].data[1] = value;
	if (!g_is_broken)
		pm_persist(v->slots[slot].data, 32);
	v->current = slot;
	pm_persist(&v->current, 8);
	if (g_is_broken)
		pm_persist(v->slots[slot].data, 32);
}

static void shadow_recover(struct versions *v)
{
	uint64_t current = v->current;

	for (int i = 0; i < 4; i++)
		printf("%lu ", v->slots[current].data[i]); /* RACE: broken */
}

/* ---- a checksum ---- */

static uint64_t sum_of(const volatile uint64_t *data)
{
	uint64_t sum = 7;

	for (int i = 0; i < 3; i++)
		sum = sum * 31 + data[i]; /* RACE: broken */
	return sum;
}

static void record_update(struct pool *p)
{
	uint64_t sum = 7;

	for (uint64_t i = 0; i < 3; i++) {
		p->record.data[i] = 100 + i;
		sum = sum * 31 + 100 + i;
	}
	p->record.sum = sum;
	pm_persist(&p->record, sizeof p->record);
}

static void record_recover(struct pool *p)
{
	uint64_t sum = sum_of(p->record.data);

	if (g_is_broken || sum == p->record.sum)
		printf("record %lu\n", sum);
	else
		printf("no record\n");
}

int main(int argc, char **argv)
{
	struct pool *p = pm_map(argv[1], sizeof *p);

	g_is_broken = argc > 3;
	if (strcmp(argv[2], "recover") == 0) {
		undo_recover(&p->undo);
		redo_recover(&p->redo);
		operation_recover(&p->operation);
		checkpoint_recover(&p->checkpoint);
		shadow_recover(&p->shadow);
		record_recover(p);
		return 0;
	}
	for (uint64_t i = 1; i <= 2; i++) {
		undo_update(&p->undo, 2, 10 * i);
		redo_update(&p->redo, i + 1, 20 * i);
		operation_update(&p->operation, i + 1, 30 * i);
		checkpoint_update(&p->checkpoint, 40 * i);
		shadow_update(&p->shadow, i, 50 * i);
	}
	record_update(p);
	return 0;
}
