/* Runs the oracles over a trace and makes a report of their findings, with the source lines of each place. Also says for which
 * platforms a trace is valid: libpmem behaves differently where flushes have no effect. */
#include "session/judge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session/ending.h"
#include "session/locate.h"
#include "trace/page_cache.h"
#include "session/values.h"
#include "util/alloc.h"
#include "util/vec.h"

typedef VEC(struct bug_frame) frames;

/* Appends the stack of a site; the first frame's index is where the list ended before. library: of PMDK, if it did this on its own; else NULL.
 * is_at_call: not inside a function that flushes for others. */
static void add_stack(struct locator *l, const struct trace_site *site, frames *all,
		      struct bug_location *where, bool is_at_call, const char **library)
{
	const struct frame *list;
	size_t n = locate_stack(l, site, &list);

	where->nframes = n;
	where->shown = locate_shown(l, list, n);
	*library = locate_decider(list, where->shown);
	if (n > 0 && is_at_call)
		where->shown = locate_call(l, list, n, where->shown);
	for (size_t i = 0; i < n; i++) {
		struct bug_frame *f = vec_add(all);

		*f = locate_bug_frame(list[i].symbol);
		f->is_signal = list[i].is_signal;
	}
}

static bool is_flush_or_fence(const char *role)
{
	return strcmp(role, "flush") == 0 || strcmp(role, "fence") == 0;
}

void judge_add(struct report *r, struct locator *l, const struct finding *f)
{
	struct bug_location where[FINDING_MAX_PLACES] = { 0 };
	const struct bug_kind *kind = bug_kind_find(f->kind);
	const enum bug_severity usual = kind                                 ? kind->severity
					: f->severity == FINDING_PERFORMANCE ? BUG_PERFORMANCE
									     : BUG_CORRECTNESS;
	struct bug b = { .kind = f->kind,
			 .severity = f->reason ? BUG_WARNING : usual,
			 .message = f->message,
			 .advice = f->advice,
			 .reason = f->reason,
			 .count = f->count,
			 .executions = f->executions,
			 .first_seq = f->first_seq,
			 .locations = where,
			 .nlocations = f->nplaces };
	frames all = { 0 };
	const char *library;
	size_t at = 0;

	for (size_t i = 0; i < f->nplaces; i++) {
		where[i].role = f->places[i].role;
		where[i].seq = i == 0 ? f->first_seq : 0;
		where[i].site = f->places[i].site ? f->places[i].site->id : 0;
		add_stack(l, f->places[i].site, &all, &where[i], strcmp(f->kind, FLUSH_CLEAN) == 0,
			  &library);
		if (i == 0 && usual == BUG_PERFORMANCE && is_flush_or_fence(where[i].role))
			b.library = library;
	}
	for (size_t i = 0; i < f->nplaces; i++) {
		where[i].frames = where[i].nframes ? all.at + at : NULL;
		at += where[i].nframes;
	}
	(f->is_cut ? report_add_unflushed : report_add)(r, &b);
	vec_release(&all);
}

const char judge_trusted[] =
	"Flushes with only a dmb of PMDK's libraries after them count as complete, because PMDK relies on that, although the "
	"architecture does not guarantee it; --no-trust reports them";

const char judge_sandbox[] =
	"The program was recorded without its seccomp filter, which would block the recorder's own system calls";

char *judge_uncompared(const struct trace *t)
{
	const char *file = trace_meta(t, "uncompared");

	return file ? xasprintf("Whether something else changed a file was not looked at: %s", file)
		    : NULL;
}

char *judge_old_bytes(const struct trace *t, uint64_t nbytes)
{
	if (!trace_meta(t, "old_bytes"))
		return NULL;
	if (nbytes == 0)
		return xstrdup(
			"--old-bytes filled nothing: no allocator announced that it hands out memory again, and no device was mapped");
	return xasprintf("--old-bytes: %" PRIu64 " bytes that the program was handed were not zero",
			 nbytes);
}

void judge_add_command(struct report *r, const struct trace *t)
{
	const char *pool = trace_meta(t, "scratch_pool"), *argument;
	char key[32], *shown;

	for (unsigned i = 0;
	     snprintf(key, sizeof key, "argv.%u", i), (argument = trace_meta(t, key)); i++) {
		shown = pool && *pool ? word_replaced(argument, pool, SCRATCH_POOL)
				      : xstrdup(argument);
		report_add_argument(r, shown);
		free(shown);
	}
	if (trace_meta(t, "cwd"))
		report_add_folder(r, trace_meta(t, "cwd"));
}

/* What one pass over the trace counted. */
struct counted {
	uint64_t nevents, nold_bytes, ntrusted;
	bool has_store;
};

/* free() it; NULL: there is nothing to note. */
static char *note_of(const struct trace *t, const struct counted *n)
{
	char *uncompared = judge_uncompared(t), *old = judge_old_bytes(t, n->nold_bytes), *note;
	const char *other = n->ntrusted                ? judge_trusted
			    : trace_meta(t, "sandbox") ? judge_sandbox
						       : uncompared;

	note = old || other ? xasprintf("%s%s%s", old ? old : "", old && other ? ". " : "",
					other ? other : "")
			    : NULL;
	free(uncompared);
	free(old);
	return note;
}

static void describe(struct report *r, const struct trace *t, const struct check_options *o,
		     const struct counted *n)
{
	const char *missing = ending_loss(t) ? ending_loss(t)
			      : n->has_store ? trace_unseen(t)
					     : "the program stored nothing to persistent memory";
	char *note = note_of(t, n);
	struct report_coverage coverage = { .events = n->nevents,
					    .note = note,
					    .is_complete = !missing,
					    .why_incomplete = missing };

	report_set_platform(r, o->platform->name);
	report_set_platform_chosen(r, o->is_platform_chosen);
	judge_add_command(r, t);
	report_set_coverage(r, &coverage);
	free(note);
}

const struct platform *judge_platform(const struct trace *trace, struct error *err)
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

static bool is_libpmem(const struct trace_object *o)
{
	const char *base = o ? strrchr(o->path, '/') : NULL;

	return base && strncmp(base, "/libpmem", 8) == 0;
}

static bool is_libpmem_call(const struct trace_site *site)
{
	if (site && is_libpmem(site->object))
		return true;
	for (const struct trace_node *n = site ? site->node : NULL; n; n = n->parent)
		if (is_libpmem(n->object))
			return true;
	return false;
}

/* Did libpmem sync where it would have flushed on persistent memory? */
static bool has_libpmem_sync(struct trace *t)
{
	struct trace_event ev;

	while (trace_next(t, &ev))
		if (ev.kind == PMT_MSYNC && is_libpmem_call(ev.site))
			return true;
	return false;
}

const char *judge_isa(const struct trace *t)
{
	const char *isa = trace_meta(t, "isa");

	return isa && strcmp(isa, "arm64") == 0 ? "arm64" : "amd64";
}

bool judge_is_own(const struct trace *trace, const struct platform *p)
{
	struct trace_event ev;
	struct trace *t;
	bool is_own;

	if (!p->isa)
		return true;
	t = trace_cursor(trace);
	while (trace_next(t, &ev) && (ev.kind == PMT_PROCESS || ev.kind == PMT_META))
		;
	is_own = strcmp(judge_isa(t), p->isa) == 0;
	trace_close(t);
	return is_own;
}

int judge_serves(const struct trace *trace, const struct platform *recorded,
		 const struct platform *asked, struct error *err)
{
	struct trace *t = trace_cursor(trace);
	struct trace_event ev;
	const char *force;
	int result = 0;

	while (trace_next(t, &ev) && (ev.kind == PMT_PROCESS || ev.kind == PMT_META))
		;
	if (asked->isa && strcmp(asked->isa, "amd64") == 0 && strcmp(judge_isa(t), "amd64") != 0) {
		result = error_set(err, "it was recorded on arm64");
		goto out;
	}
	if (recorded->has_flush == asked->has_flush)
		goto out;
	force = trace_meta(t, "pmem_force");
	if (recorded->has_flush) {
		if (!force) /* an imported one */
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

static int judge_accepts(const struct trace *t, const struct platform *recorded,
			 const struct platform *asked, struct error *err)
{
	struct error why;

	if (judge_serves(t, recorded, asked, &why) == 0)
		return 0;
	return error_set(err, "%s cannot be analysed for %s: %s; record again with --platform %s",
			 trace_path(t), asked->name, why.msg, asked->name);
}

/* The recorded one, or the one of the page cache if that is how the program keeps its data. */
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

void platform_choice_tell(struct platform_choice *c, const struct notes *notes)
{
	if (c->words && notes)
		notes_say(notes, "%s", c->words);
	free(c->words);
	c->words = NULL;
}

const struct platform *judge_choose(const struct trace *t, const struct platform *asked,
				    struct platform_choice *how, struct error *err)
{
	struct platform_choice ignored = { 0 };
	struct error why;
	const struct platform *recorded = judge_platform(t, &why), *chosen;

	if (how)
		*how = ignored;
	if (!recorded && !asked) {
		*err = why;
		return NULL;
	}
	if (!recorded)
		return asked;
	if (asked)
		return judge_accepts(t, recorded, asked, err) == 0 ? asked : NULL;
	chosen = choose_by_trace(t, recorded, how ? how : &ignored);
	free(ignored.words);
	return chosen;
}

/* The same events once more, for oracles that know only now what to look for. */
static void read_again(struct check *c, const struct trace *trace, uint64_t nevents)
{
	struct trace_event ev;
	struct trace *t;

	if (!check_wants_again(c))
		return;
	t = trace_cursor(trace);
	check_again(c);
	while (nevents-- && trace_next(t, &ev))
		check_event(c, &ev);
	check_finish_again(c);
	trace_close(t);
}

/* Debug information is read only if somebody asks who flushes for others. */
static void note_served(struct locator *l, const struct check *c)
{
	bool is_asked = false;

	for (size_t i = 0; i < check_nfindings(c); i++)
		is_asked |= strcmp(check_finding(c, i)->kind, FLUSH_CLEAN) == 0;
	for (size_t i = 0; is_asked && i < check_nserved(c); i++)
		locate_note_served(l, check_served(c, i)->flush, check_served(c, i)->store);
}

struct report *judge_trace(const struct trace *trace, const struct check_options *o,
			   const struct libraries *libraries, bool *is_complete, struct error *err)
{
	struct trace *t = trace_cursor(trace);
	struct locator *l = locator_new(t, libraries);
	struct check_options own = *o;
	struct check *c;
	struct trace_event ev;
	struct report *r = NULL;
	struct counted n = { 0 };

	own.is_same_line = locate_is_same_line;
	own.line_arg = l;
	c = check_new(&own, err);
	if (!c)
		goto out;
	while (trace_next(t, &ev)) {
		check_event(c, &ev);
		n.has_store |= trace_is_store(ev.kind);
		n.nold_bytes += ev.kind == PMT_OLD ? trace_old_len(&ev) : 0;
		n.nevents++;
	}
	check_finish(c);
	read_again(c, t, n.nevents);
	r = report_new();
	note_served(l, c);
	for (size_t i = 0; i < check_nfindings(c); i++)
		judge_add(r, l, check_finding(c, i));
	n.ntrusted = check_ntrusted(c);
	describe(r, t, o, &n);
	for (size_t i = 0; libraries && i < libraries->n; i++)
		report_add_library_glob(r, libraries->globs[i]);
	ending_tell(r, t, check_cut(c));
	*is_complete = !ending_loss(t);
	check_free(c);
out:
	locator_free(l);
	trace_close(t);
	return r;
}

void judge_listen(const struct trace *trace, const char *const *names,
		  void (*on_finding)(const struct finding *f, void *arg), void *arg)
{
	struct check_options o = { .only = names, .on_finding = on_finding, .arg = arg };
	struct trace_event ev;
	struct error err;
	struct check *c;
	struct trace *t;

	o.platform = judge_choose(trace, NULL, NULL, &err);
	c = o.platform ? check_new(&o, &err) : NULL;
	if (!c)
		return;
	t = trace_cursor(trace);
	while (trace_next(t, &ev))
		check_event(c, &ev);
	check_finish(c);
	check_free(c);
	trace_close(t);
}
