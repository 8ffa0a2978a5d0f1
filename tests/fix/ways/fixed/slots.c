/* Functions with a pointer, a number and the right name that do not flush a range: one also stores, by a macro; one takes an index. Neither is called for
 * other stores. */
#include <stdint.h>

#include "tests/fix/ways/machine.h"

#define SET_BIT(word, n, bit) ((bit) ? (word |= (1u << (n))) : (word &= ~(1u << (n))))

struct bucket {
	uint64_t slot[15];
	uint32_t used;
};

void line_flush(uint64_t *line); /* of another file */

static void slot_flush(struct bucket *b, uint64_t i)
{
	SET_BIT(b->used, i, 1);
	line_flush(&b->slot[i]);
	line_flush((uint64_t *)&b->used);
}

static void entry_flush(struct bucket *b, uint64_t i)
{
	MACHINE_FLUSH(&b->slot[i]);
	MACHINE_FLUSH(&b->used);
}

void correct(struct bucket *b, uint64_t i);
void correct(struct bucket *b, uint64_t i)
{
	b->slot[i] = 1;
	slot_flush(b, i);
	entry_flush(b, i);
	MACHINE_FENCE();
}

void other(uint64_t *count);
void other(uint64_t *count)
{
	*count = 2; /* BUG: missing-flush */
	MACHINE_FLUSH(count);
	MACHINE_FENCE();
}
