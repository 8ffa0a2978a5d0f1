/* Checks a recipe before anything is started. */
#include "cmd/recipe_option.h"

#include "cmd/cmd.h"

void recipe_option_begin(const struct command *c, struct recipe *r,
			 const struct optional_number *timeout, bool has_trace, char *const *target)
{
	struct error err;

	if (has_trace && (r->client || r->ready.n > 0 || r->stop))
		die_usage(
			c,
			"--client, --ready and --stop apply only to recording a program, not to a trace");
	if (timeout->is_set && timeout->n > 4000000)
		die_usage(c, "--timeout is at most 4000000");
	r->seconds = timeout->is_set ? (uint32_t)timeout->n : 0;
	if (recipe_check(r, target, &err) < 0)
		die_usage(c, "%s", err.msg);
}
