/* XFDetector's Figure 2: an array with a backup, whose validity is told the wrong way round by "wrong".
 *	figure2 POOL run|recover [wrong] */
#include "pm.h"

struct pool {
	LINE volatile uint64_t valid;
	LINE volatile uint64_t backup_index;
	LINE volatile uint64_t backup_value;
	LINE volatile uint64_t array[8];
};

static void update(struct pool *p, uint64_t index, uint64_t value, int is_wrong)
{
	p->backup_index = index;
	p->backup_value = p->array[index];
	pm_flush(&p->backup_index, 8);
	pm_persist(&p->backup_value, 8);
	p->valid = is_wrong ? 0 : 1;
	pm_persist(&p->valid, 8);
	p->array[index] = value;
	pm_persist(&p->array[index], 8);
	p->valid = is_wrong ? 1 : 0;
	pm_persist(&p->valid, 8);
}

static void recover(struct pool *p)
{
	if (p->valid) {
		uint64_t index = p->backup_index; /* SEMANTIC: wrong */
		uint64_t value = p->backup_value; /* SEMANTIC: wrong */

		p->array[index] = value;
		pm_persist(&p->array[index], 8);
	}
}

int main(int argc, char **argv)
{
	struct pool *p = pm_map(argv[1], sizeof *p);

	PMEND_COMMIT_VAR(&p->valid, sizeof p->valid);
	if (strcmp(argv[2], "run") == 0) {
		update(p, 1, 10, argc > 3);
		update(p, 2, 20, argc > 3);
		update(p, 1, 30, argc > 3);
		return 0;
	}
	printf("%lu ", p->array[1] + p->array[2]); /* outside of the region of interest: not judged, neither in a worker's first run */
	PMEND_ROI_BEGIN();
	recover(p);
	for (int i = 0; i < 8; i++)
		printf("%lu ", p->array[i]); /* SEMANTIC: wrong */
	PMEND_ROI_END();
	return 0;
}
