/* Says for which platforms a trace is valid, and on which one it is judged if the user names none.
 * libpmem behaves differently where flushes have no effect, so not every trace is valid
 * everywhere. */
#include "check/platform_choice.h"

#include <stdlib.h>
#include <string.h>

#include "trace/page_cache.h"
#include "util/alloc.h"
#include "trace/owner.h"

const struct platform *platform_recorded(const struct trace *trace, struct error *err)
{
	struct trace *t = trace_cursor(trace);
	const struct platform *p = NULL;
	const char *name = NULL, *path = trace_path(trace);
	struct trace_event ev;

	while (!name && trace_next(t, &ev) && (ev.kind == PMT_PROCESS || ev.kind == PMT_META))
		name = trace_meta(t, "platform");
	if (name)
		p = platform_find(name);
	if (!p && trace_damage(t))
		error_set(err, "%s: %s; the rest does not name the platform: record again", path,
			  trace_damage(t));
	else if (!p && name)
		error_set(
			err,
			"%s was recorded for the unknown platform '%s'; choose one with --platform",
			path, name);
	else if (!p)
		error_set(err, "%s does not name its platform; choose one with --platform", path);
	trace_close(t);
	return p;
}

static bool is_libpmem_call(const struct trace_site *site)
{
	if (site && owner_is_libpmem(site->object))
		return true;
	for (const struct trace_node *n = site ? site->node : NULL; n; n = n->parent)
		if (owner_is_libpmem(n->object))
			return true;
	return false;
}

/* Did libpmem call msync where it would have flushed on persistent memory? */
static bool has_libpmem_sync(struct trace *t)
{
	struct trace_event ev;

	while (trace_next(t, &ev))
		if (ev.kind == PMT_MSYNC && is_libpmem_call(ev.site))
			return true;
	return false;
}

/* Says whose instructions the trace has, as far as it was read: "amd64" or "arm64". */
static const char *platform_isa(const struct trace *t)
{
	const char *isa = trace_meta(t, "isa");

	return isa && strcmp(isa, "arm64") == 0 ? "arm64" : "amd64";
}

bool platform_is_own(const struct trace *trace, const struct platform *p)
{
	struct trace_event ev;
	struct trace *t;
	bool is_own;

	if (!p->isa)
		return true;
	t = trace_cursor(trace);
	while (trace_next(t, &ev) && (ev.kind == PMT_PROCESS || ev.kind == PMT_META))
		;
	is_own = strcmp(platform_isa(t), p->isa) == 0;
	trace_close(t);
	return is_own;
}

int platform_serves(const struct trace *trace, const struct platform *recorded,
		    const struct platform *asked, struct error *err)
{
	struct trace *t = trace_cursor(trace);
	struct trace_event ev;
	const char *force;
	int result = 0;

	while (trace_next(t, &ev) && (ev.kind == PMT_PROCESS || ev.kind == PMT_META))
		;
	if (asked->isa && strcmp(asked->isa, "amd64") == 0 &&
	    strcmp(platform_isa(t), "amd64") != 0) {
		result = error_set(err, "it was recorded on arm64");
		goto out;
	}
	if (recorded->has_flush == asked->has_flush)
		goto out;
	force = trace_meta(t, "pmem_force");
	if (recorded->has_flush) {
		if (!force) /* an imported trace */
			result = error_set(
				err,
				"the trace does not say whether libpmem flushed or called msync");
		else if (strcmp(force, "0") != 0 && page_cache_has_libpmem(trace))
			result = error_set(err, "libpmem flushed when this was recorded for %s",
					   recorded->name);
	} else if (has_libpmem_sync(t)) {
		result = error_set(
			err,
			"libpmem called msync instead of flushing when this was recorded for %s",
			recorded->name);
	}
out:
	trace_close(t);
	return result;
}

static int platform_accepts(const struct trace *t, const struct platform *recorded,
			    const struct platform *asked, struct error *err)
{
	struct error why;

	if (platform_serves(t, recorded, asked, &why) == 0)
		return 0;
	return error_set(err, "%s cannot be analysed for %s: %s; record again with --platform %s",
			 trace_path(t), asked->name, why.msg, asked->name);
}

/* Chooses the recorded platform, or that of the page cache if the program syncs its data by
 * calls. */
static const struct platform *choose_by_trace(const struct trace *trace,
					      const struct platform *recorded,
					      struct platform_choice *how)
{
	struct trace *t = trace_cursor(trace);
	const struct platform *msync = platform_find("msync");
	struct trace_event ev;
	bool is_open;
	char *why;

	while (trace_next(t, &ev) && (ev.kind == PMT_PROCESS || ev.kind == PMT_META))
		;
	is_open = trace_meta(t, "platform_open") != NULL;
	trace_close(t);
	if (!is_open || recorded->is_page_cache)
		return recorded;
	how->is_chosen = page_cache_is_all(trace, &why);
	if (how->is_chosen)
		how->words = xasprintf(
			"the program keeps its data with msync or fsync and flushes no cache lines: analysed for platform msync; --platform %s analyses it as a program of persistent memory",
			recorded->name);
	else if (why)
		how->words = xasprintf(
			"the program calls msync or fsync, but %s: analysed for platform %s; if it relies on msync alone, give --platform msync",
			why, recorded->name);
	free(why);
	return how->is_chosen ? msync : recorded;
}

void platform_choice_say(struct platform_choice *c, const struct notes *notes)
{
	if (c->words && notes)
		notes_say(notes, "%s", c->words);
	free(c->words);
	c->words = NULL;
}

const struct platform *platform_choose(const struct trace *t, const struct platform *asked,
				       struct platform_choice *how, struct error *err)
{
	struct platform_choice ignored = { 0 };
	struct error why;
	const struct platform *recorded = platform_recorded(t, &why), *chosen;

	if (how)
		*how = ignored;
	if (!recorded && !asked) {
		*err = why;
		return NULL;
	}
	if (!recorded)
		return asked;
	if (asked)
		return platform_accepts(t, recorded, asked, err) == 0 ? asked : NULL;
	chosen = choose_by_trace(t, recorded, how ? how : &ignored);
	free(ignored.words);
	return chosen;
}
