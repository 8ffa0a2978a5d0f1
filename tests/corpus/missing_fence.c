/* Written back, but no fence of the same thread follows that is the program's own. */
#include "corpus.h"

static void clwb_alone(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	_mm_clwb(&p->a);
}

static void clwb_and_fence(struct pm *p)
{
	p->a = 1;
	_mm_clwb(&p->a);
	_mm_sfence();
}

static void clflushopt_alone(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	_mm_clflushopt(&p->a);
}

static void clflushopt_and_fence(struct pm *p)
{
	p->a = 1;
	_mm_clflushopt(&p->a);
	_mm_sfence();
}

static void clflushopt_and_mfence(struct pm *p)
{
	p->a = 1;
	_mm_clflushopt(&p->a);
	_mm_mfence();
}

static void lfence_does_not_wait(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	_mm_clwb(&p->a);
	_mm_lfence();
}

static void fence_comes_too_early(struct pm *p)
{
	p->a = 1;
	_mm_clwb(&p->a);
	_mm_sfence();
	p->c = 2; /* BUG: missing-fence */
	_mm_clwb(&p->c);
}

static void fence_on_one_path_only(struct pm *p)
{
	for (int i = 0; i < 2; i++) {
		uint64_t *where = i ? &p->c : &p->a;

		*where = 1; /* BUG: missing-fence */
		_mm_clwb(where);
		if (i == 0)
			_mm_sfence();
	}
}

/* The C library's locks are fences too, today. */
static void only_the_c_library_fences(struct pm *p)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	p->a = 1; /* BUG: missing-fence */
	_mm_clwb(&p->a);
	pthread_mutex_lock(&lock);
	free(malloc(100000));
	pthread_mutex_unlock(&lock);
}

static void the_c_library_fences_first(struct pm *p)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	p->a = 1;
	_mm_clwb(&p->a);
	pthread_mutex_unlock(&lock);
	_mm_sfence();
}

/* At the end of main: exit() runs locked instructions, but they are not the program's. */
static void before_exit(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	_mm_clwb(&p->a);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	RUN_CASES(argv, clwb_alone, clwb_and_fence, clflushopt_alone, clflushopt_and_fence, clflushopt_and_mfence,
		  lfence_does_not_wait, fence_comes_too_early, fence_on_one_path_only, only_the_c_library_fences,
		  the_c_library_fences_first);
	before_exit((struct pm *)((char *)pool_map(argv[1]) + POOL_BYTES) - 1);
	return 0;
}
