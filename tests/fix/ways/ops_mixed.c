/* A pointer behind which there is one thing or the other: it is no way to flush, so the file gets its own. */
#include "tests/fix/ways/ops.h"

void correct(const struct medium_ops *ops, uint64_t *data);
void correct(const struct medium_ops *ops, uint64_t *data)
{
	data[0] = 1;
	ops->mixed(&data[0], sizeof(data[0]));
}

void stores(uint64_t *data);
void stores(uint64_t *data)
{
	data[1] = 2; /* BUG: missing-flush-fence */
}
