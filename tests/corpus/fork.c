/* A child's stores to a shared mapping change the same memory; its flushes are its own. */
#include <sys/wait.h>

#include "corpus.h"

static void in_a_child(struct pm *p, void (*run)(struct pm *p))
{
	pid_t child = fork();
	int status;

	CHECK(child >= 0);
	if (child == 0) {
		run(p);
		_exit(0);
	}
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void careless(struct pm *p)
{
	p->a = 1; /* BUG: missing-flush-fence */
}

static void careful(struct pm *p)
{
	p->a = 1;
	persist(&p->a, 8);
}

static void flushes_what_the_parent_stored(struct pm *p)
{
	persist(&p->c, 8);
}

static void fences_what_the_parent_flushed(struct pm *p)
{
	p->text[0] = 'x';
	persist(p->text, 1);
}

int main(int argc, char **argv)
{
	struct pm *p;

	CHECK(argc == 2);
	p = pool_map(argv[1]);
	in_a_child(&p[0], careless);
	in_a_child(&p[1], careful);
	p[2].c = 2;
	in_a_child(&p[2], flushes_what_the_parent_stored);
	p[3].d = 3; /* BUG: missing-fence */
	flush_line(&p[3].d);
	in_a_child(&p[3], fences_what_the_parent_flushed);
	return 0;
}
