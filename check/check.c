/* Runs the oracles over a trace and collects what they find. */
#include "check/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/plugin.h"
#include "util/alloc.h"
#include "util/vec.h"

struct running {
	const struct oracle *oracle;
	void *state;
};

/* From this event on, things are looked at or not. */
struct watch {
	uint64_t seq;
	bool is_on;
};

struct check {
	const struct platform *platform;
	struct model *model;
	VEC(struct running) oracles;
	VEC(struct finding) findings;
	VEC(uint32_t) buckets; /* hash → index of finding + 1 */
	struct ranges ignored; /* PMEND_IGNORE */
	struct ranges not_pm;  /* pmemcheck's REMOVE_PMEM_MAPPING: stores there are none to us, while that holds */
	struct ranges clean;   /* pmemcheck's SET_CLEAN, until stored to again */
	struct ranges unread;  /* by recovery */
	VEC(bool) exited;      /* by stream */
	VEC(uint64_t) executions; /* of flushes and fences, by site */
	VEC(struct watch) watches;
	uint32_t skip_depth; /* PMEND_SKIP_CHECK */
	bool has_roi, in_roi;
	bool is_again; /* the events come for the second time */
};

extern const struct oracle oracle_durability, oracle_overwrite, oracle_performance, oracle_asserts, oracle_ordered,
	oracle_transactions, oracle_redundant_add, oracle_tx_outside, oracle_transient;

const struct oracle *const oracles[] = {
	&oracle_durability, &oracle_performance, &oracle_transactions, &oracle_redundant_add, &oracle_tx_outside,
	&oracle_asserts,    &oracle_ordered,	 &oracle_transient,    &oracle_overwrite,     NULL,
};

static bool is_named(const char *const *names, const char *name)
{
	for (; names && *names; names++)
		if (strcmp(*names, name) == 0)
			return true;
	return false;
}

static bool is_plugin(const struct check_options *o, const char *name)
{
	for (size_t i = 0; o->plugins && o->plugins[i]; i++)
		if (strcmp(plugin_name(o->plugins[i]), name) == 0)
			return true;
	return false;
}

/* For people. */
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

struct check *check_new(const struct check_options *o, struct error *err)
{
	struct check *c;

	if (check_options_verify(o, err) < 0)
		return NULL;
	c = xcalloc(1, sizeof *c);
	c->platform = o->platform;
	c->model = model_new(o->platform, NULL);
	for (size_t i = 0; oracles[i]; i++) {
		bool is_wanted = o->only ? is_named(o->only, oracles[i]->name) : !oracles[i]->is_optional;

		if (is_wanted || is_named(o->with, oracles[i]->name))
			*vec_add(&c->oracles) = (struct running){ oracles[i], oracles[i]->begin() };
	}
	for (size_t i = 0; o->plugins && o->plugins[i]; i++)
		if (!o->only || is_named(o->only, plugin_name(o->plugins[i])))
			*vec_add(&c->oracles) = (struct running){ &oracle_plugin, plugin_begin(o->plugins[i], c) };
	for (size_t i = 0; o->unread && i < o->unread->list.n; i++)
		ranges_add(&c->unread, o->unread->list.at[i].from, o->unread->list.at[i].to - o->unread->list.at[i].from);
	return c;
}

void check_free(struct check *c)
{
	for (size_t i = 0; i < c->oracles.n; i++)
		c->oracles.at[i].oracle->end(c->oracles.at[i].state);
	vec_release(&c->oracles);
	vec_release(&c->findings);
	vec_release(&c->buckets);
	vec_release(&c->exited);
	vec_release(&c->executions);
	vec_release(&c->watches);
	ranges_release(&c->ignored);
	ranges_release(&c->not_pm);
	ranges_release(&c->clean);
	ranges_release(&c->unread);
	model_free(c->model);
	free(c);
}

const struct model *check_model(const struct check *c)
{
	return c->model;
}

const struct platform *check_platform(const struct check *c)
{
	return c->platform;
}

const struct ranges *check_unread(const struct check *c)
{
	return &c->unread;
}

/* ---- findings ---- */

static uint64_t finding_hash(const struct finding *f)
{
	uint64_t words[2 + FINDING_MAX_PLACES] = { (uintptr_t)f->kind, (uintptr_t)f->message };

	for (size_t i = 0; i < f->nplaces; i++)
		words[2 + i] = f->places[i].site ? f->places[i].site->id : 0;
	return pmt_hash(words, sizeof words);
}

static bool finding_equal(const struct finding *a, const struct finding *b)
{
	if (a->kind != b->kind || a->message != b->message || a->nplaces != b->nplaces)
		return false;
	for (size_t i = 0; i < a->nplaces; i++)
		if (a->places[i].site != b->places[i].site)
			return false;
	return true;
}

static uint32_t *bucket_of(struct check *c, const struct finding *f)
{
	size_t i = finding_hash(f) & (c->buckets.n - 1);

	while (c->buckets.at[i] && !finding_equal(&c->findings.at[c->buckets.at[i] - 1], f))
		i = (i + 1) & (c->buckets.n - 1);
	return &c->buckets.at[i];
}

static void grow_buckets(struct check *c)
{
	size_t n = c->buckets.n ? 2 * c->buckets.n : 64;

	vec_reserve(&c->buckets, n);
	memset(c->buckets.at, 0, n * sizeof c->buckets.at[0]);
	c->buckets.n = n;
	for (size_t i = 0; i < c->findings.n; i++)
		*bucket_of(c, &c->findings.at[i]) = (uint32_t)i + 1;
}

/* What counts is the moment of the store, flush or fence, not that of the report. */
static bool is_watched(const struct check *c, uint64_t seq)
{
	size_t low = 0, high = c->watches.n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (c->watches.at[mid].seq <= seq)
			low = mid + 1;
		else
			high = mid;
	}
	return low ? c->watches.at[low - 1].is_on : !c->has_roi;
}

static void note_watch(struct check *c, const struct trace_event *ev)
{
	switch (ev->kind) {
	case PMT_SKIP_CHECK_BEGIN: c->skip_depth++; break;
	case PMT_SKIP_CHECK_END: c->skip_depth -= c->skip_depth > 0; break;
	case PMT_ROI_BEGIN:
		if (!c->has_roi) { /* what came before is outside, as it turns out now */
			c->findings.n = c->buckets.n = c->watches.n = 0;
			c->has_roi = true;
		}
		c->in_roi = true;
		break;
	case PMT_ROI_END: c->in_roi = false; break;
	default: return;
	}
	*vec_add(&c->watches) = (struct watch){ ev->seq, c->skip_depth == 0 && (!c->has_roi || c->in_roi) };
}

void check_report(struct check *c, const struct finding *f)
{
	uint32_t *bucket;

	if (!is_watched(c, f->first_seq))
		return;
	if (2 * c->findings.n >= c->buckets.n)
		grow_buckets(c);
	bucket = bucket_of(c, f);
	if (*bucket == 0) {
		*vec_add(&c->findings) = *f;
		*bucket = (uint32_t)c->findings.n;
		c->findings.at[c->findings.n - 1].count = 0;
	}
	c->findings.at[*bucket - 1].count++;
}

size_t check_nfindings(const struct check *c)
{
	return c->findings.n;
}

const struct finding *check_finding(const struct check *c, size_t i)
{
	return &c->findings.at[i];
}

/* ---- what oracles ask ---- */

bool check_is_ignored(const struct check *c, uint64_t addr, uint64_t len_bytes)
{
	return ranges_cover(&c->ignored, addr, len_bytes) || ranges_cover(&c->clean, addr, len_bytes) ||
	       ranges_cover(&c->unread, addr, len_bytes);
}

/* Does the file of the instruction have a name that begins with one of these? The list ends with NULL. */
static bool is_code_of(const struct trace_site *site, const char *const *names)
{
	const char *base;

	if (!site || !site->object)
		return false;
	base = strrchr(site->object->path, '/');
	base = base ? base + 1 : site->object->path;
	for (; *names; names++)
		if (strncmp(base, *names, strlen(*names)) == 0)
			return true;
	return false;
}

bool check_is_runtime_code(const struct trace_site *site)
{
	static const char *const names[] = { "libc.so", "libc-", "libpthread", "ld-linux", "libgcc_s", "libstdc++", NULL };

	return is_code_of(site, names);
}

bool check_is_pmdk_code(const struct trace_site *site)
{
	static const char *const names[] = { "libpmem", NULL };

	return is_code_of(site, names);
}

bool check_has_exited(const struct check *c, uint32_t stream)
{
	return stream < c->exited.n && c->exited.at[stream];
}

/* ---- running ---- */

static void note_exit(struct check *c, uint32_t stream)
{
	while (c->exited.n <= stream)
		*vec_add(&c->exited) = false;
	c->exited.at[stream] = true;
}

static void note(struct check *c, const struct trace_event *ev)
{
	switch (ev->kind) {
	case PMT_IGNORE: ranges_add(&c->ignored, ev->addr, ev->arg[0]); break;
	case PMT_NOT_PM: ranges_add(&c->not_pm, ev->addr, ev->arg[0]); break;
	case PMT_IS_PM: ranges_remove(&c->not_pm, ev->addr, ev->arg[0]); break;
	case PMT_SET_CLEAN: ranges_add(&c->clean, ev->addr, ev->arg[0]); break;
	case PMT_STORE:
	case PMT_STORE_NT:
	case PMT_STORE_RMW:
	case PMT_STORE_SYS: ranges_remove(&c->clean, ev->addr, ev->size_bytes); break;
	case PMT_SKIP_CHECK_BEGIN:
	case PMT_SKIP_CHECK_END:
	case PMT_ROI_BEGIN:
	case PMT_ROI_END:
		if (!c->is_again)
			note_watch(c, ev);
		break;
	case PMT_EXIT: note_exit(c, ev->stream); break;
	default: break; /* the other kinds say nothing to the frame around the oracles */
	}
}

static bool wants_again(const struct running *r)
{
	return r->oracle->wants_again && r->oracle->wants_again(r->state);
}

static bool is_flush_or_fence(enum pmt_kind k)
{
	return k == PMT_CLFLUSH || k == PMT_CLFLUSHOPT || k == PMT_CLWB || k == PMT_SFENCE || k == PMT_MFENCE;
}

static void count_execution(struct check *c, const struct trace_site *site)
{
	while (c->executions.n <= site->id)
		*vec_add(&c->executions) = 0;
	c->executions.at[site->id]++;
}

void check_event(struct check *c, const struct trace_event *ev)
{
	if ((trace_kinds[ev->kind].carries & PMT_HAS_VALUE) && ranges_cover(&c->not_pm, ev->addr, ev->size_bytes))
		return;
	if (!c->is_again && ev->site && is_flush_or_fence(ev->kind))
		count_execution(c, ev->site);
	for (size_t i = 0; i < c->oracles.n; i++) {
		const struct oracle *o = c->oracles.at[i].oracle;

		if (!c->is_again)
			o->step(c->oracles.at[i].state, c, ev);
		else if (wants_again(&c->oracles.at[i]))
			o->step_again(c->oracles.at[i].state, c, ev);
	}
	note(c, ev);
	model_step(c->model, ev);
}

void check_finish(struct check *c)
{
	for (size_t i = 0; i < c->oracles.n; i++)
		if (c->oracles.at[i].oracle->finish)
			c->oracles.at[i].oracle->finish(c->oracles.at[i].state, c);
	for (size_t i = 0; i < c->findings.n; i++) {
		const struct trace_site *site = c->findings.at[i].nplaces ? c->findings.at[i].places[0].site : NULL;

		if (site && is_flush_or_fence(site->kind) && site->id < c->executions.n)
			c->findings.at[i].executions = c->executions.at[site->id];
	}
}

bool check_wants_again(const struct check *c)
{
	for (size_t i = 0; i < c->oracles.n; i++)
		if (wants_again(&c->oracles.at[i]))
			return true;
	return false;
}

/* Findings stay, and with them what is known about where to look. */
void check_again(struct check *c)
{
	model_free(c->model);
	c->model = model_new(c->platform, NULL);
	c->ignored.list.n = c->not_pm.list.n = c->clean.list.n = 0;
	c->exited.n = 0;
	c->is_again = true;
}
