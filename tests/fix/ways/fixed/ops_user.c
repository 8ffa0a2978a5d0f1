/* Calls through a struct of pointers that another file fills in. */
#include "tests/fix/ways/ops.h"

struct medium {
	const struct medium_ops *ops;
	uint64_t *data;
};

void correct(struct medium *m);
void correct(struct medium *m)
{
	m->data[0] = 1;
	m->ops->push_out(&m->data[0], sizeof(m->data[0]));
	m->ops->settle();
}

void stores(struct medium *m);
void stores(struct medium *m)
{
	m->data[1] = 2; /* BUG: missing-flush-fence */
	m->ops->push_out(&m->data[1], sizeof(m->data[1]));
	m->ops->settle();
}
