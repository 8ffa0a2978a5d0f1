/* A recovery that must survive a crash of its own. `twice run POOL` leaves a transfer that is durable but not carried out; `twice careful POOL` carries it out, then
 * forgets it; `twice hasty POOL` forgets it first, so that nobody goes on with it after a crash; `twice guarded POOL` does the same where no crash is to be thought of;
 * `twice slow POOL` is careful, and takes seconds. All then check. */
#include <time.h>

#include "pm.h"

struct pool {
	_Alignas(64) uint64_t amount; /* of the transfer */
	_Alignas(64) uint64_t is_due;
	_Alignas(64) uint64_t from; /* with `to`, always 100 */
	_Alignas(64) uint64_t to;
};

static void carry_out(struct pool *p)
{
	p->from = 100 - p->amount; /* BUG: hasty: atomicity survived */
	persist(&p->from, sizeof p->from);
	p->to = p->amount; /* BUG: hasty: atomicity lost */
	persist(&p->to, sizeof p->to);
}

static void forget(struct pool *p)
{
	p->is_due = 0;
	persist(&p->is_due, sizeof p->is_due);
}

int main(int argc, char **argv)
{
	struct pool *p;

	CHECK(argc == 3);
	if (strcmp(argv[1], "run") == 0) {
		p = pool_create(argv[2], sizeof *p);
		p->amount = 30;
		persist(&p->amount, sizeof p->amount);
		p->is_due = 1;
		persist(&p->is_due, sizeof p->is_due);
		return 0;
	}
	p = pool_open(argv[2], sizeof *p);
	if (p && p->is_due && argv[1][0] == 'h') {
		forget(p);
		carry_out(p);
	} else if (p && p->is_due && argv[1][0] == 'g') {
		PMEND_SKIP_FAILURE_BEGIN();
		forget(p);
		carry_out(p);
		PMEND_SKIP_FAILURE_END();
	} else if (p && p->is_due) {
		if (argv[1][0] == 's')
			nanosleep(&(struct timespec){ .tv_sec = 3 }, NULL);
		carry_out(p);
		forget(p);
	}
	CHECK(!p || p->from + p->to == 100 || (p->from == 0 && p->to == 0));
	return 0;
}
