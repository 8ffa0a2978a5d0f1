/* Checks the user's options about oracles and platforms, and prepares them for session/. */
#include "cmd/check_options.h"

#include <string.h>

#include "cmd/platform_option.h"
#include "account/causes/causes.h"

/* Groups the findings of one platform, with its own oracles. */
static void fold_platform(struct report *r, const char *trace, const struct libraries *libraries)
{
	causes_fold(r, trace, libraries, NULL);
}

void check_options_begin(const struct command *command, struct checking *c, const char *platform)
{
	struct error err;

	c->profile = FILES_PROFILES;
	c->is_all = platform && strcmp(platform, "all") == 0;
	if (platform && !c->is_all)
		c->recording.platform = platform_option(command, platform, &c->profile);
	c->recording.notes = &user_notes;
	c->fold = fold_platform;
	if (checking_begin(c, &err) < 0)
		die("%s", err.msg);
	if (check_options_verify(&c->options, &err) < 0)
		die_usage(command, "%s", err.msg);
}

struct report *check_options_judge(const struct checking *c, const struct platform_traces *traces,
				   bool *is_complete)
{
	struct error err;
	struct report *r = checking_judge(c, traces, is_complete, &err);

	if (!r)
		die("%s", err.msg);
	return r;
}
