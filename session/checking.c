/* See checking.h. */
#include "session/checking.h"

#include <stdlib.h>
#include <string.h>

#include "check/plugin.h"
#include "util/alloc.h"

static void plugins_open(struct checking *c)
{
	struct error err;

	c->plugins = xcalloc(c->oracles.n + 1, sizeof(struct plugin *));
	for (size_t i = 0; i < c->oracles.n; i++) {
		c->plugins[i] = plugin_open(c->oracles.item[i], &err);
		if (!c->plugins[i])
			die("%s", err.msg);
	}
}

static const char **names(const struct option_list *l)
{
	const char **list = xcalloc(l->n + 1, sizeof *list);

	memcpy(list, l->item, l->n * sizeof *list);
	return list;
}

void checking_begin(const struct command *command, struct checking *c)
{
	struct error err;

	c->is_all = c->platform && strcmp(c->platform, "all") == 0;
	if (c->platform && !c->is_all)
		c->recording.platform = recording_platform(command, c->platform);
	plugins_open(c);
	c->names_only = names(&c->only);
	c->names_with = names(&c->with);
	c->options = (struct check_options){ .only = c->only.n ? c->names_only : NULL, .with = c->names_with, .plugins = c->plugins };
	if (check_options_verify(&c->options, &err) < 0)
		die_usage(command, "%s", err.msg);
}

void checking_end(struct checking *c)
{
	for (size_t i = 0; c->plugins[i]; i++)
		plugin_close(c->plugins[i]);
	free(c->plugins);
	free(c->names_only);
	free(c->names_with);
	option_list_release(&c->only);
	option_list_release(&c->with);
	option_list_release(&c->oracles);
	option_list_release(&c->recording.pm);
}

static const struct platform *choose_platform(const struct checking *c, const char *path)
{
	const struct platform *asked = c->recording.platform, *recorded;
	struct error err;

	recorded = judge_platform(path, &err);
	if (!recorded && !asked)
		die("%s; choose one with --platform", err.msg);
	if (!asked || !recorded)
		return asked ? asked : recorded;
	if (judge_serves(path, recorded, asked, &err) < 0)
		die("%s cannot be judged on %s: %s; record again with --platform %s", path, asked->name, err.msg, asked->name);
	return asked;
}

struct report *checking_judge(const struct checking *c, const struct platform_traces *traces, bool *is_complete)
{
	const char *path = traces->list.at[0].path;
	struct check_options o = c->options;
	struct report *r;
	struct error err;

	if (c->is_all) {
		r = platform_traces_judge(traces, &o, is_complete, &err);
	} else {
		o.platform = choose_platform(c, path);
		r = judge_trace_begin(path, &o, is_complete, &err);
	}
	if (!r)
		die("%s", err.msg);
	return r;
}
