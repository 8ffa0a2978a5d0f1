/* Checks recorded executions with the user's options. The platform is the requested one if the
 * trace is valid for it, otherwise the recorded one. */
#include "session/checking.h"

#include <stdlib.h>

#include "check/plugin.h"
#include "util/alloc.h"
#include "check/platform_choice.h"
#include "account/check_report.h"

static int plugins_open(struct checking *c, struct error *err)
{
	c->plugins = xcalloc(c->oracles.n + 1, sizeof(struct plugin *));
	for (size_t i = 0; i < c->oracles.n; i++) {
		c->plugins[i] = plugin_open(c->oracles.item[i], err);
		if (!c->plugins[i])
			return -1;
	}
	return 0;
}

static const char **names(const struct word_list *l)
{
	const char **list = xcalloc(l->n + 1, sizeof *list);

	for (size_t i = 0; i < l->n; i++)
		list[i] = l->item[i];
	return list;
}

static void add_option(struct word_list *words, const char *option, const struct word_list *values)
{
	for (size_t i = 0; i < values->n; i++) {
		word_list_add(words, option);
		word_list_add(words, values->item[i]);
	}
}

void checking_tell(const struct checking *c, struct word_list *words)
{
	add_option(words, "--only", &c->only);
	add_option(words, "--with", &c->with);
	add_option(words, "--oracle", &c->oracles);
}

int checking_begin(struct checking *c, struct error *err)
{
	if (plugins_open(c, err) < 0)
		return -1;
	c->names_only = names(&c->only);
	c->names_with = names(&c->with);
	c->options = (struct check_options){ .only = c->only.n ? c->names_only : NULL,
					     .with = c->names_with,
					     .plugins = c->plugins,
					     .is_distrusting = c->no_trust,
					     .profile = c->profile == FILES_PROFILES ? FILES_WEAKEST
										     : c->profile,
					     .is_for_all = c->is_all };
	c->libraries = (struct libraries){ c->library_globs.item, c->library_globs.n };
	return 0;
}

void checking_end(struct checking *c)
{
	for (size_t i = 0; c->plugins[i]; i++)
		plugin_close(c->plugins[i]);
	free(c->plugins);
	free(c->names_only);
	free(c->names_with);
	word_list_release(&c->only);
	word_list_release(&c->with);
	word_list_release(&c->oracles);
	word_list_release(&c->library_globs);
	word_list_release(&c->recording.recipe.ready);
	word_list_release(&c->recording.pm);
	word_list_release(&c->recording.files);
	word_list_release(&c->recording.files_except);
	word_list_release(&c->recording.lock_calls);
	word_list_release(&c->recording.unlock_calls);
}

struct report *checking_judge(const struct checking *c, const struct platform_traces *traces,
			      bool *is_complete, struct error *err)
{
	struct check_options o = c->options;
	struct platform_choice how;
	const struct trace *t;

	if (c->is_all)
		return platform_traces_judge(traces, &o, &c->libraries, c->fold, is_complete, err);
	t = platform_trace_open(&traces->list.at[0], err);
	o.platform =
		t ? platform_choose(t, c->recording.is_platform_open ? NULL : c->recording.platform,
				    &how, err)
		  : NULL;
	if (!o.platform)
		return NULL;
	o.is_platform_chosen = how.is_chosen;
	platform_choice_say(&how, c->recording.notes);
	return check_report_make(t, &o, &c->libraries, is_complete, err);
}
