/* The fork server. In the program that the worker starts with RUN_ENV_SERVER, execution stops when libraries are initialised and the
 * program itself is not: its own constructors and main() run anew in each run, and see the images. The program is never run in the
 * server's own process. Limit: constructors of the program's libraries have run by then, once, without images. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"
#include "serve/call.h"
#include "serve/serve.h"

typedef int main_fn(int, char **, char **);
typedef int start_main_fn(main_fn *, int, char **, void (*)(void), void (*)(void), void (*)(void), void *);

long serve_call(long number, long a, long b, long c, long d, long e, long f)
{
	return rt_syscall(number, a, b, c, d, e, f);
}

static pid_t server_fork(struct serve *s)
{
	pid_t pid;

	(void)s;
	detours_make();
	pid = fork();
	return pid < 0 ? -errno : pid;
}

/* Returns in each run's first process. */
static void server_serve(const char *control)
{
	struct serve s = { .control = atoi(control), .start = server_fork };
	static const char why[] = "pmend: the run's shared memory is gone\n";
	uint64_t mapped = 0; /* runs inherit it, as long as it does not grow */

	if (strchr(control, 'b'))
		unsetenv("LD_BIND_NOW");
	unsetenv(RUN_ENV_SERVER); /* in place: the program's own view of its environment, too */
	warm_share();
	if (rt_map_region() == 0)
		mapped = g_region->len_bytes;
	serve_loop(&s);
	serve_enter(&s);
	if ((!mapped || mapped != g_region->len_bytes) && rt_map_region() < 0) {
		if (write(2, why, sizeof why - 1) < 0)
			_exit(126);
		_exit(127);
	}
	serve_limits(&s, g_region);
	rt_attach();
}

/* Called by the program's _start. Old programs name another version of it, which is the same function. */
__attribute__((visibility("default"))) int __libc_start_main(main_fn *main_of_program, int argc, char **argv,
							      void (*init)(void), void (*fini)(void),
							      void (*rtld_fini)(void), void *stack_end);

int __libc_start_main(main_fn *main_of_program, int argc, char **argv, void (*init)(void), void (*fini)(void),
		      void (*rtld_fini)(void), void *stack_end)
{
	start_main_fn *real = (start_main_fn *)dlsym(RTLD_NEXT, "__libc_start_main");
	const char *control = getenv(RUN_ENV_SERVER);

	if (control)
		server_serve(control);
	return real(main_of_program, argc, argv, init, fini, rtld_fini, stack_end);
}
