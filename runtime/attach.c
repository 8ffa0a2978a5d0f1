/* Joins a process to a run: prepares each part of the runtime, lowest first, and then catches
 * system calls. In a program that a run execs, the constructor calls this. In the first process of
 * a run, the fork server does. */
#include "calls.h"

void rt_prepare(void)
{
	static bool is_done;

	if (is_done) /* the server has done it; so its runs need not write to these pages */
		return;
	is_done = true;
	rt_init();
	arch_init();
	own_stack_init();
	maps_prepare();
	exec_init();
	root_init();
	buffers_init();
}

_Noreturn static void give_up(const char *why)
{
	g_region->is_blind = 1;
	rt_unsound(why);
}

void rt_attach(void)
{
	rt_prepare();
	if (!g_region && rt_map_region() < 0)
		return;
	g_is_lazy = g_region->flags & RUN_LAZY && lines_any_undecided();
	images_init();
	if (g_is_lazy)
		maps_init();
	signals_init();
	if (arch_refusal())
		give_up(arch_refusal());
	if (!gate_arm())
		give_up(gate_lack);
}

static __attribute__((constructor)) void attach_exec(int argc, char **argv, char **environment)
{
	(void)argc, (void)argv;
	environment_init(environment);
	if (environment_get(RUN_ENV_REGION) && !environment_get(RUN_ENV_SERVER))
		rt_attach();
}
