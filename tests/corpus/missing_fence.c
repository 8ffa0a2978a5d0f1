/* Written back, but no fence of the same thread follows that is the program's own. */
#include "corpus.h"

static void flush_alone(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	flush_line(&p->a);
}

static void flush_and_fence(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	fence();
}

static void other_flush_alone(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	flush_line_alt(&p->a);
}

static void other_flush_and_fence(struct pm *p)
{
	p->a = 1;
	flush_line_alt(&p->a);
	fence();
}

static void other_flush_and_other_fence(struct pm *p)
{
	p->a = 1;
	flush_line_alt(&p->a);
	fence_alt();
}

static void fence_of_loads_does_not_wait(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	flush_line(&p->a);
	fence_loads();
}

static void fence_comes_too_early(struct pm *p)
{
	p->a = 1;
	flush_line(&p->a);
	fence();
	p->c = 2; /* BUG: missing-fence */
	flush_line(&p->c);
}

static void fence_on_one_path_only(struct pm *p)
{
	for (int i = 0; i < 2; i++) {
		uint64_t *where = i ? &p->c : &p->a;

		*where = 1; /* BUG: missing-fence */
		flush_line(where);
		if (i == 0)
			fence();
	}
}

/* The C library's locks are fences too, today, on amd64. */
static void only_the_c_library_fences(struct pm *p)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	p->a = 1; /* BUG: missing-fence */
	flush_line(&p->a);
	pthread_mutex_lock(&lock);
	free(malloc(100000));
	pthread_mutex_unlock(&lock);
}

static void the_c_library_fences_first(struct pm *p)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	p->a = 1;
	flush_line(&p->a);
	pthread_mutex_unlock(&lock);
	fence();
}

/* At the end of main: exit() runs locked instructions, but they are not the program's. */
static void before_exit(struct pm *p)
{
	p->a = 1; /* BUG: missing-fence */
	flush_line(&p->a);
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	RUN_CASES(argv, flush_alone, flush_and_fence, other_flush_alone, other_flush_and_fence, other_flush_and_other_fence,
		  fence_of_loads_does_not_wait, fence_comes_too_early, fence_on_one_path_only, only_the_c_library_fences,
		  the_c_library_fences_first);
	before_exit((struct pm *)((char *)pool_map(argv[1]) + POOL_BYTES) - 1);
	return 0;
}
