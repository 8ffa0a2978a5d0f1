/* Records with a name, which recovery looks at before it looks whether the record is used. It reads a part of what one store wrote: the first letter,
 * the first two, the last four. Right: what was read is used only if the record is. Broken: a record is used before its name is durable.
 *	letters POOL run [broken]
 *	letters POOL recover [mend]	mend: by the first letter, recovery changes the last one of the same word
 * beside: a value follows the name in its line. Recovery reads the name first, and uses only the value, durable or not (look);
 * or it uses the name if there is a value (guard).
 *	letters POOL beside
 *	letters POOL look|guard */
#include "pm.h"

struct record {
	LINE volatile uint64_t is_used;
	LINE volatile uint64_t name; /* eight letters in one store */
	volatile uint64_t value;
};

struct pool {
	struct record record[3];
};

static void put(struct record *r, const char *name, int is_broken)
{
	uint64_t letters;

	memcpy(&letters, name, sizeof letters);
	r->name = letters;
	if (!is_broken)
		pm_persist(&r->name, sizeof r->name);
	r->is_used = 1;
	pm_persist(r, sizeof *r);
}

static void recover(struct pool *p, int mends)
{
	volatile char *name = (volatile char *)&p->record[0].name;
	char first = *name; /* RACE: broken, mend */
	uint16_t two = *(const volatile uint16_t *)&p->record[1].name; /* RACE: broken */
	uint32_t last = ((const volatile uint32_t *)&p->record[2].name)[1]; /* RACE: broken */

	if (mends && first == 'a')
		name[7] = '!';
	if (p->record[0].is_used) /* RACE: broken */
		printf("%c\n", first ? first : '?');
	if (p->record[1].is_used) /* RACE: broken */
		printf("%x\n", two);
	if (p->record[2].is_used) /* RACE: broken */
		printf("%x\n", last);
}

static void put_beside(struct record *r)
{
	r->name = 0x616e6e61;
	__atomic_store_n(&r->value, 5, __ATOMIC_RELEASE); /* arm64 does not order stores to a line otherwise */
	r->is_used = 1;
	pm_persist(r, sizeof *r);
}

static void look(const struct record *r)
{
	(void)*(const volatile char *)&r->name;
	printf("%llu\n", (unsigned long long)r->value); /* RACE: look */
}

static void guard(const struct record *r)
{
	uint64_t name = r->name;

	if (r->value)
		printf("%llx\n", (unsigned long long)name);
}

int main(int argc, char **argv)
{
	struct pool *p = pm_map(argv[1], sizeof *p);
	int is_broken = argc > 3;

	if (strcmp(argv[2], "recover") == 0) {
		recover(p, argc > 3);
		return 0;
	}
	if (strcmp(argv[2], "look") == 0) {
		look(&p->record[0]);
		return 0;
	}
	if (strcmp(argv[2], "guard") == 0) {
		guard(&p->record[0]);
		return 0;
	}
	if (strcmp(argv[2], "beside") == 0) {
		put_beside(&p->record[0]);
		return 0;
	}
	put(&p->record[0], "anna bo", is_broken);
	put(&p->record[1], "bella x", is_broken);
	put(&p->record[2], "clara y", is_broken);
	return 0;
}
