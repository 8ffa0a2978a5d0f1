/* Has the table of oracles, and starts those that the options select. A plug-in's oracle is treated
 * like one of the table. */
#include <stdio.h>
#include <string.h>

#include "check/check_internal.h"
#include "check/plugin.h"
#include "util/values.h"

extern const struct oracle oracle_durability, oracle_overwrite, oracle_performance, oracle_asserts,
	oracle_ordered, oracle_transactions, oracle_redundant_add, oracle_tx_outside,
	oracle_transient, oracle_porting, oracle_acknowledged, oracle_unpersisted_read,
	oracle_files;

const struct oracle *const oracles[] = {
	&oracle_durability,
	&oracle_performance,
	&oracle_transactions,
	&oracle_redundant_add,
	&oracle_tx_outside,
	&oracle_asserts,
	&oracle_ordered,
	&oracle_transient,
	&oracle_porting,
	&oracle_acknowledged,
	&oracle_unpersisted_read,
	&oracle_overwrite,
	&oracle_files,
	NULL,
};

static bool is_plugin(const struct check_options *o, const char *name)
{
	for (size_t i = 0; o->plugins && o->plugins[i]; i++)
		if (strcmp(plugin_name(o->plugins[i]), name) == 0)
			return true;
	return false;
}

/* Lists the names for an error message. */
static void list_oracles(const struct check_options *o, char *text, size_t cap)
{
	size_t n = 0;

	*text = '\0';
	for (size_t i = 0; oracles[i] && n < cap; i++)
		n += (size_t)snprintf(text + n, cap - n, "%s%s", n ? ", " : "", oracles[i]->name);
	for (size_t i = 0; o->plugins && o->plugins[i] && n < cap; i++)
		n += (size_t)snprintf(text + n, cap - n, ", %s", plugin_name(o->plugins[i]));
}

static int check_names(const struct check_options *o, const char *const *names, struct error *err)
{
	for (; names && *names; names++) {
		char all[400];
		size_t i = 0;

		while (oracles[i] && strcmp(oracles[i]->name, *names) != 0)
			i++;
		if (oracles[i] || is_plugin(o, *names))
			continue;
		list_oracles(o, all, sizeof all);
		return error_set(err, "there is no oracle '%s'; there are %s", *names, all);
	}
	return 0;
}

int check_options_verify(const struct check_options *o, struct error *err)
{
	return check_names(o, o->only, err) < 0 ? -1 : check_names(o, o->with, err);
}

static bool is_told(const struct oracle_run *r, unsigned class)
{
	return class == EVENT_OTHER || (!r->is_asleep && (r->oracle->classes & class));
}

static void tell_all(struct check *c)
{
	for (unsigned class = EVENT_STORE; class <= EVENT_OTHER; class *= 2) {
		c->told[class].n = 0;
		for (size_t i = 0; i < c->oracles.n; i++)
			if (is_told(&c->oracles.at[i], class))
				*vec_add(&c->told[class]) = (uint32_t)i;
	}
}

void oracles_begin(struct check *c, const struct check_options *o)
{
	for (size_t i = 0; oracles[i]; i++) {
		bool is_wanted =
			o->only ? words_name(o->only, oracles[i]->name) : !oracles[i]->is_optional;

		if (is_wanted || words_name(o->with, oracles[i]->name))
			*vec_add(&c->oracles) =
				(struct oracle_run){ oracles[i], oracles[i]->begin(), false };
	}
	for (size_t i = 0; o->plugins && o->plugins[i]; i++)
		if (!o->only || words_name(o->only, plugin_name(o->plugins[i])))
			*vec_add(&c->oracles) =
				(struct oracle_run){ &oracle_plugin, plugin_begin(o->plugins[i], c),
						     false };
	tell_all(c);
}

void oracles_wake(struct check *c)
{
	bool has_changed = false;

	for (size_t i = 0; i < c->oracles.n; i++) {
		struct oracle_run *r = &c->oracles.at[i];
		const bool was_asleep = r->is_asleep;

		if (r->oracle->is_asleep)
			r->is_asleep = r->oracle->is_asleep(r->state, c);
		has_changed |= r->is_asleep != was_asleep;
	}
	if (has_changed)
		tell_all(c);
}
