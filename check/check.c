/* Runs the oracles over a trace: each sees an event just before the model takes it. Findings are
 * counted once per source situation. */
#include "check/check.h"

#include <stdlib.h>

#include "check/check_internal.h"
#include "util/alloc.h"
#include "check/platform_choice.h"

static struct model *new_model(const struct check *c)
{
	struct model *m = model_new(c->platform, NULL);

	if (c->is_distrusting)
		model_distrust(m);
	return m;
}

struct check *check_new(const struct check_options *o, struct error *err)
{
	struct check *c;

	if (check_options_verify(o, err) < 0)
		return NULL;
	c = xcalloc(1, sizeof *c);
	c->platform = c->cut.platform = o->platform;
	c->is_distrusting = o->is_distrusting;
	c->is_same_line = o->is_same_line;
	c->line_arg = o->line_arg;
	c->followed = o->followed;
	c->on_finding = o->on_finding;
	c->arg = o->arg;
	c->model = new_model(c);
	oracles_begin(c, o);
	for (size_t i = 0; o->unread && i < o->unread->list.n; i++)
		ranges_add(&c->unread, o->unread->list.at[i].from,
			   o->unread->list.at[i].to - o->unread->list.at[i].from);
	oracles_wake(c);
	return c;
}

void check_free(struct check *c)
{
	for (size_t i = 0; i < c->oracles.n; i++)
		c->oracles.at[i].oracle->end(c->oracles.at[i].state);
	vec_release(&c->oracles);
	for (size_t i = 0; i < sizeof c->told / sizeof *c->told; i++)
		vec_release(&c->told[i]);
	findings_release(&c->findings);
	vec_release(&c->exited);
	cut_release(&c->cut);
	vec_release(&c->executions);
	vec_release(&c->served);
	vec_release(&c->candidates);
	vec_release(&c->watches);
	ranges_release(&c->ignored);
	ranges_release(&c->not_pm);
	ranges_release(&c->clean);
	ranges_release(&c->unread);
	model_free(c->model);
	free(c);
}

static bool wants_again(const struct oracle_run *r)
{
	return r->oracle->wants_again && r->oracle->wants_again(r->state);
}

static bool is_flush_or_fence(enum pmt_kind k)
{
	return trace_is_flush(k) || trace_is_barrier(k);
}

static void count_execution(struct check *c, const struct trace_site *site)
{
	while (c->executions.n <= site->id)
		*vec_add(&c->executions) = 0;
	c->executions.at[site->id]++;
}

/* The oracles to which an event is passed. */
struct audience {
	bool memory, files;
};

/* Says which oracles see an event. An event about a file's size or content is for file oracles if
 * it is about a followed file, otherwise for memory oracles. An event about a name is only for file
 * oracles. Others, like output, are for both. */
static struct audience audience_of(const struct check *c, const struct trace_event *ev)
{
	const bool has_addr = trace_kinds[ev->kind].carries & PMT_HAS_ADDR;
	uint64_t file = has_addr ? PMT_FILE(ev->addr) : 0;
	bool is_followed;

	switch ((int)ev->kind) {
	case PMT_FSYNC:
	case PMT_FDATASYNC:
	case PMT_SIZE:
	case PMT_FALLOCATE:
	case PMT_RENAME:
	case PMT_UNLINK: file = ev->arg[0]; break;
	case PMT_FILE:
		is_followed = c->followed && followed_has(c->followed, ev->arg[0]);
		return (struct audience){ !is_followed, true };
	case PMT_NAME:
	case PMT_UNNAME:
	case PMT_MOVE: return (struct audience){ false, true };
	default: break;
	}
	is_followed = c->followed && followed_has(c->followed, file);
	return (struct audience){ file == 0 || !is_followed, file == 0 || is_followed };
}

static enum event_class class_of(enum pmt_kind k)
{
	if (trace_is_store(k))
		return EVENT_STORE;
	if (k == PMT_LOAD)
		return EVENT_LOAD;
	if (trace_is_flush(k))
		return EVENT_FLUSH;
	return trace_is_barrier(k) || k == PMT_LFENCE || k == PMT_RMW_FENCE || k == PMT_ORDER
		       ? EVENT_FENCE
		       : EVENT_OTHER;
}

static bool is_for(const struct oracle *o, struct audience to)
{
	return o->is_for_files ? to.files : to.memory;
}

static void step_again(struct check *c, const struct trace_event *ev, struct audience to)
{
	for (size_t i = 0; i < c->oracles.n; i++)
		if (is_for(c->oracles.at[i].oracle, to) && wants_again(&c->oracles.at[i]))
			c->oracles.at[i].oracle->step_again(c->oracles.at[i].state, c, ev);
}

void check_event(struct check *c, const struct trace_event *ev)
{
	const enum event_class class = class_of(ev->kind);
	struct audience to = { true, false };

	if (class == EVENT_STORE && c->not_pm.list.n > 0 &&
	    ranges_cover(&c->not_pm, ev->addr, ev->size_bytes))
		return;
	if (class == EVENT_OTHER || check_follows_files(c))
		to = audience_of(c, ev);
	if (c->is_again) {
		step_again(c, ev, to);
	} else {
		if (class != EVENT_STORE && ev->site && is_flush_or_fence(ev->kind))
			count_execution(c, ev->site);
		for (size_t i = 0; i < c->told[class].n; i++) {
			const struct oracle_run *r = &c->oracles.at[c->told[class].at[i]];

			if (is_for(r->oracle, to))
				r->oracle->step(r->state, c, ev);
		}
	}
	context_note(c, ev);
	if (to.memory)
		model_step(c->model, ev);
	if (class == EVENT_OTHER && !c->is_again)
		oracles_wake(c);
}

uint64_t check_ntrusted(const struct check *c)
{
	return c->ntrusted;
}

size_t check_ncandidates(const struct check *c)
{
	return c->candidates.n;
}

const struct check_candidate *check_candidate(const struct check *c, size_t i)
{
	return &c->candidates.at[i];
}

static void count_executions(struct check *c)
{
	for (size_t i = 0; i < c->findings.list.n; i++) {
		const struct trace_site *site = c->findings.list.at[i].nplaces
							? c->findings.list.at[i].places[0].site
							: NULL;

		if (site && is_flush_or_fence(site->kind) && site->id < c->executions.n)
			c->findings.list.at[i].executions = c->executions.at[site->id];
	}
}

void check_finish(struct check *c)
{
	c->ntrusted = model_ntrusted(c->model);
	for (size_t i = 0; i < c->oracles.n; i++)
		if (c->oracles.at[i].oracle->finish)
			c->oracles.at[i].oracle->finish(c->oracles.at[i].state, c);
	count_executions(c);
}

void check_finish_again(struct check *c)
{
	for (size_t i = 0; i < c->oracles.n; i++)
		if (c->oracles.at[i].oracle->finish_again && wants_again(&c->oracles.at[i]))
			c->oracles.at[i].oracle->finish_again(c->oracles.at[i].state, c);
	count_executions(c);
}

bool check_wants_again(const struct check *c)
{
	for (size_t i = 0; i < c->oracles.n; i++)
		if (wants_again(&c->oracles.at[i]))
			return true;
	return false;
}

/* Prepares for a second pass over the events. Findings stay, and so does the knowledge of which
 * moments are looked at. */
void check_again(struct check *c)
{
	model_free(c->model);
	c->model = new_model(c);
	c->ignored.list.n = c->not_pm.list.n = c->clean.list.n = 0;
	c->exited.n = 0;
	c->is_again = true;
}

enum cut_extent check_cut(const struct check *c)
{
	return cut_extent(&c->cut);
}

size_t check_nserved(const struct check *c)
{
	return c->served.n;
}

const struct check_served *check_served(const struct check *c, size_t i)
{
	return &c->served.at[i];
}

size_t check_nfindings(const struct check *c)
{
	return c->findings.list.n;
}

const struct finding *check_finding(const struct check *c, size_t i)
{
	return &c->findings.list.at[i];
}

void check_listen(const struct trace *trace, const char *const *names,
		  void (*on_finding)(const struct finding *f, void *arg), void *arg)
{
	struct check_options o = { .only = names, .on_finding = on_finding, .arg = arg };
	followed_files followed;
	struct trace_event ev;
	struct error err;
	struct check *c;
	struct trace *t;

	o.platform = platform_choose(trace, NULL, NULL, &err);
	followed = followed_of(trace);
	o.followed = &followed;
	c = o.platform ? check_new(&o, &err) : NULL;
	if (!c) {
		vec_release(&followed);
		return;
	}
	t = trace_cursor(trace);
	while (trace_next(t, &ev))
		check_event(c, &ev);
	check_finish(c);
	check_free(c);
	vec_release(&followed);
	trace_close(t);
}
