/* An append log whose program is killed when it has stored its count and would flush it next: that it did not is no evidence against it. Broken, it goes on
 * to the next entry, whose fence was its chance, and is killed only then.
 *	killed POOL run [broken]
 *	killed POOL recover */
#include <signal.h>

#include "pm.h"

#define NENTRIES 3u

struct pool {
	LINE volatile uint64_t count;
	struct {
		LINE volatile uint64_t value, inverse;
	} entries[NENTRIES + 1];
};

static void fill(struct pool *p, uint64_t i)
{
	p->entries[i].value = i + 100;
	p->entries[i].inverse = ~(i + 100);
	pm_persist(&p->entries[i], sizeof p->entries[i]);
}

static int recover(struct pool *p)
{
	for (uint64_t i = 0; i < p->count; i++) /* RACE: broken */
		if (p->entries[i].inverse != ~p->entries[i].value)
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	struct pool *p = pm_map(argv[1], sizeof *p);
	int is_broken = argc > 3;

	if (strcmp(argv[2], "recover") == 0)
		return recover(p);
	for (uint64_t i = 0; i < NENTRIES; i++) {
		fill(p, i);
		p->count = i + 1;
		if (i + 1 < NENTRIES)
			pm_persist(&p->count, sizeof p->count);
	}
	if (is_broken)
		fill(p, NENTRIES);
	kill(getpid(), SIGKILL);
	return 0;
}
