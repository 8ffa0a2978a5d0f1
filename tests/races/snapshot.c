/* Slots whose value is durable before the key that commits it, and a reader that takes a snapshot: it reads the value before the key, or in any case, and uses it only if the key is
 * there. No race. Broken, the key is stored before the value is durable; and a value that is zero as long as it is lost is linked before it is stored.
 *	snapshot POOL run [broken]
 *	snapshot POOL recover */
#include "pm.h"

#define SLOTS 3

struct pool {
	struct {
		LINE volatile uint64_t key;
		LINE volatile uint64_t value;
	} far[SLOTS]; /* the value is read first */
	struct {
		LINE volatile uint64_t key;
		LINE volatile uint64_t value;
	} both[SLOTS]; /* the key is read first, the value in any case */
	struct {
		LINE volatile uint64_t key[SLOTS];
		volatile uint64_t value[SLOTS];
	} bucket; /* of one line, as hash tables have it */
	LINE volatile uint64_t link;
	LINE volatile uint64_t linked; /* counts if there is a link */
};

static void put(volatile uint64_t *value, volatile uint64_t *key, uint64_t i, int is_broken)
{
	*value = i;
	if (!is_broken)
		pm_persist(value, 8);
	*key = i;
	pm_persist(key, 8);
	if (is_broken)
		pm_persist(value, 8);
}

static void recover(const struct pool *p)
{
	for (uint64_t i = 0; i < SLOTS; i++) {
		uint64_t value = p->far[i].value; /* RACE: broken */
		uint64_t key = p->far[i].key;	  /* RACE: broken */

		if (key == i + 1)
			printf("%lu ", value);
	}
	for (uint64_t i = 0; i < SLOTS; i++) {
		uint64_t key = p->both[i].key;	   /* RACE: broken */
		uint64_t value = p->both[i].value; /* RACE: broken */

		if (key == i + 1)
			printf("%lu ", value);
	}
	for (uint64_t i = 0; i < SLOTS; i++) {
		uint64_t value = p->bucket.value[i];

		if (p->bucket.key[i] == i + 1)
			printf("%lu ", value);
	}
	{
		uint64_t linked = p->linked; /* RACE: broken */

		printf("%lu\n", p->link == 7 ? linked : 0);
	}
}

int main(int argc, char **argv)
{
	struct pool *p = pm_map(argv[1], sizeof *p);
	int is_broken = argc > 3;

	if (strcmp(argv[2], "recover") == 0) {
		recover(p);
		return 0;
	}
	for (uint64_t i = 0; i < SLOTS; i++) {
		put(&p->far[i].value, &p->far[i].key, i + 1, is_broken);
		put(&p->both[i].value, &p->both[i].key, i + 1, is_broken);
		put(&p->bucket.value[i], &p->bucket.key[i], i + 1, 0);
	}
	if (is_broken)
		put(&p->link, &p->linked, 7, 0);
	else
		put(&p->linked, &p->link, 7, 0);
	return 0;
}
