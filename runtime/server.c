/* The fork server. A worker starts the recovery program with RUN_ENV_SERVER. Execution stops when
 * the libraries are initialised but the program itself is not, and each run is a fork from there.
 * So the program's own constructors and main() run in each run and see the images. The program
 * never runs in the server's own process. Limit: constructors of the libraries have run once,
 * without images. */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "calls.h"
#include "serve/serve.h"

typedef int main_fn(int, char **, char **);
typedef int start_main_fn(main_fn *, int, char **, void (*)(void), void (*)(void), void (*)(void),
			  void *);

/* fork() of the C library, which prepares the child, even if the program defines another one. */
typedef pid_t fork_fn(void);
static fork_fn *g_fork;

static pid_t server_fork(struct serve *s)
{
	uint64_t pc;
	pid_t pid;

	(void)s;
	while ((pc = warm_next_read()))
		detour_make(pc);
	pid = g_fork();
	return pid < 0 ? -errno : pid;
}

static int control_number(const char *text)
{
	int n = 0;

	for (; *text >= '0' && *text <= '9'; text++)
		n = n * 10 + (*text - '0');
	return n;
}

/* Serves runs. It returns in the first process of each run. */
static void server_serve(const char *control)
{
	struct serve s = { .control = control_number(control), .start = server_fork };
	static const char why[] = "pmend: the run's shared memory is gone\n";
	uint64_t mapped = 0; /* the runs inherit the mapping, unless the region grows */

	g_fork = (fork_fn *)dlsym(RTLD_NEXT, "fork");
	if (strchr(control, 'b'))
		environment_remove("LD_BIND_NOW");
	environment_remove(RUN_ENV_SERVER);
	rt_prepare();
	signals_prepare();
	warm_share();
	if (rt_map_region() == 0)
		mapped = g_region->len_bytes;
	serve_loop(&s);
	serve_enter(&s);
	if ((!mapped || mapped != g_region->len_bytes) && rt_map_region() < 0) {
		CALL3(SYS_write, 2, why, sizeof why - 1);
		for (;;)
			CALL1(SYS_exit_group, 127);
	}
	serve_limits(&s, g_region);
	rt_attach();
}

/* Takes the place of the C library's function, which the program's _start calls. Old programs use
 * another version of the symbol, which is the same function. */
__attribute__((visibility("default"))) int
__libc_start_main(main_fn *main_of_program, int argc, char **argv, void (*init)(void),
		  void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

int __libc_start_main(main_fn *main_of_program, int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	start_main_fn *real = (start_main_fn *)dlsym(RTLD_NEXT, "__libc_start_main");
	const char *control = environment_get(RUN_ENV_SERVER);

	if (control)
		server_serve(control);
	return real(main_of_program, argc, argv, init, fini, rtld_fini, stack_end);
}
