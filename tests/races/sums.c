/* Two logs, whose entries are durable only after the count that publishes them. An entry that is lost is zero, and so are the sums that recovery prints then what they were
 * before: that is luck, and no checksum.
 *	sums POOL run [broken]
 *	sums POOL recover */
#include "pm.h"

#define ROOM 16

struct pool {
	LINE volatile uint64_t n_values;
	LINE volatile uint64_t values[ROOM];
	LINE volatile uint64_t n_points;
	struct { LINE volatile uint64_t x; volatile uint64_t y, z; } points[ROOM];
};

static void add_value(struct pool *p, uint64_t value, int is_broken)
{
	uint64_t n = p->n_values;

	p->values[n] = value;
	if (!is_broken)
		pm_persist(&p->values[n], 8);
	p->n_values = n + 1;
	pm_persist(&p->n_values, 8);
	if (is_broken)
		pm_persist(&p->values[n], 8);
}

static void add_point(struct pool *p, uint64_t x, int is_broken)
{
	uint64_t n = p->n_points;

	p->points[n].x = x;
	p->points[n].y = x * 3;
	p->points[n].z = x * 5;
	if (!is_broken)
		pm_persist(&p->points[n], 24);
	p->n_points = n + 1;
	pm_persist(&p->n_points, 8);
	if (is_broken)
		pm_persist(&p->points[n], 24);
}

static void recover(const struct pool *p)
{
	uint64_t sum = 0;

	for (uint64_t i = 0; i < p->n_values; i++)
		sum += p->values[i]; /* RACE: broken */
	printf("%lu\n", sum);
	sum = 0;
	for (uint64_t i = 0; i < p->n_points; i++) {
		sum += p->points[i].x; /* RACE: broken */
		sum += p->points[i].y; /* RACE: broken */
		sum += p->points[i].z; /* RACE: broken */
	}
	printf("%lu\n", sum);
}

int main(int argc, char **argv)
{
	struct pool *p = pm_map(argv[1], sizeof *p);
	int is_broken = argc > 3;

	if (strcmp(argv[2], "recover") == 0) {
		recover(p);
		return 0;
	}
	PMEND_ROI_BEGIN();
	for (uint64_t i = 1; i <= 3; i++) {
		add_value(p, i * 7, is_broken);
		add_point(p, i * 11, is_broken);
	}
	PMEND_ROI_END();
	return 0;
}
