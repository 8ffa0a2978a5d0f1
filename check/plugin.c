/* Loads an oracle from a shared object and translates between its stable structs and ours. Each
 * reported kind and text is kept once, because findings compare them by address. */
#include "check/plugin.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pmend_oracle.h"
#include "util/alloc.h"
#include "util/map.h"
#include "util/vec.h"

#define X(number, NAME, name, carries, nargs) \
	_Static_assert((int)PMEND_EV_##NAME == (int)PMT_##NAME, "numbers are the format's");
PMT_KINDS(X)
#undef X
_Static_assert(PMEND_MAX_PLACES <= FINDING_MAX_PLACES, "what is promised is kept");
_Static_assert(sizeof((struct pmend_event){ 0 }.arg) == PMT_MAX_ARGS * 8, "all arguments fit");

struct plugin {
	void *handle;
	const struct pmend_oracle *oracle;
};

/* A run of one oracle; the oracle knows it as struct pmend_check. */
struct run {
	const struct pmend_oracle *oracle;
	struct check *check;
	void *state;
	struct map texts; /* hash → kept text */
	VEC(char *) kept;
};

/* ---- loading ---- */

static bool is_name(const char *s)
{
	return s && *s && s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

static int check_oracle(const char *path, const struct pmend_oracle *o, struct error *err)
{
	if (!o)
		return error_set(
			err,
			"%s defines no 'pmend_oracle', so it is not an oracle; see docs/howto-add-oracle.md",
			path);
	if (o->abi != PMEND_ORACLE_ABI)
		return error_set(
			err,
			"%s was built for version %u of pmend_oracle.h, but this pmend has version %u: build it again",
			path, o->abi, PMEND_ORACLE_ABI);
	if (!is_name(o->name))
		return error_set(
			err,
			"the name of the oracle in %s must consist of lower-case letters, digits and dashes",
			path);
	if (!o->begin || !o->event)
		return error_set(err, "the oracle %s in %s lacks begin() or event()", o->name,
				 path);
	return 0;
}

struct plugin *plugin_open(const char *path, struct error *err)
{
	/* without a slash, dlopen() would search the system's folders */
	char *place = strchr(path, '/') ? xasprintf("%s", path) : xasprintf("./%s", path);
	const struct pmend_oracle *oracle;
	struct plugin *p = NULL;
	void *handle = NULL;

	if (access(path, R_OK) < 0) {
		error_set(err, "cannot load the oracle %s: %s", path, strerror(errno));
		goto out;
	}
	handle = dlopen(place, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		error_set(err, "cannot load the oracle, which must be a shared object: %s",
			  dlerror());
		goto out;
	}
	oracle = dlsym(handle, "pmend_oracle");
	if (check_oracle(path, oracle, err) < 0) {
		dlclose(handle);
		goto out;
	}
	p = xcalloc(1, sizeof *p);
	*p = (struct plugin){ handle, oracle };
out:
	free(place);
	return p;
}

void plugin_close(struct plugin *p)
{
	dlclose(p->handle);
	free(p);
}

const char *plugin_name(const struct plugin *p)
{
	return p->oracle->name;
}

/* ---- translation ---- */

static struct run *run_of(struct pmend_check *c)
{
	return (struct run *)c;
}

/* Limits a range to one file, however large its size is; or gives all of PM. */
static struct range range_to(const struct pmend_range *r)
{
	return r->file ? range_in_file(PMT_ADDR(r->file, PMT_OFFSET(r->offset)), r->size_bytes)
		       : (struct range){ 0, UINT64_MAX };
}

static struct pmend_range range_from(uint64_t addr, uint64_t size_bytes)
{
	return (struct pmend_range){ PMT_FILE(addr), PMT_OFFSET(addr), size_bytes };
}

static const struct pmend_site *site_from(const struct trace_site *site)
{
	return (const struct pmend_site *)site;
}

/* Gives the size of an event's range, for an event with an address. If it is not the size of an
 * access, it is an argument. */
static uint64_t size_of(const struct trace_event *ev)
{
	if (trace_is_store(ev->kind))
		return ev->size_bytes;
	switch (ev->kind) {
	case PMT_MAP:
	case PMT_UNMAP:
	case PMT_PROTECT:
	case PMT_COMMIT_RANGE: return ev->arg[1];
	case PMT_CONTENT: return ev->data_len;
	default: return trace_kinds[ev->kind].nargs ? ev->arg[0] : ev->size_bytes;
	}
}

static struct pmend_event event_from(const struct trace_event *ev)
{
	struct pmend_event out = { .seq = ev->seq,
				   .kind = ev->kind,
				   .kind_name = trace_kinds[ev->kind].name,
				   .process = ev->stream,
				   .thread = ev->thread,
				   .site = site_from(ev->site) };

	if (trace_kinds[ev->kind].carries & PMT_HAS_ADDR)
		out.at = range_from(ev->addr, size_of(ev));
	if (trace_kinds[ev->kind].carries & PMT_HAS_VALUE) {
		out.bytes = ev->data;
		out.nbytes = ev->size_bytes;
	} else if (trace_kinds[ev->kind].carries & PMT_HAS_BLOB) {
		out.bytes = ev->data;
		out.nbytes = ev->data_len;
	}
	memcpy(out.arg, ev->arg, sizeof out.arg);
	return out;
}

/* ---- what an oracle can ask ---- */

static const char *keep(struct run *r, char *text)
{
	uint64_t hash = pmt_hash(text, (uint32_t)strlen(text));
	char *known = map_get(&r->texts, hash);

	if (known && strcmp(known, text) == 0) {
		free(text);
		return known;
	}
	*vec_add(&r->kept) = text;
	map_set(&r->texts, hash, text);
	return text;
}

static void host_report(struct pmend_check *c, const struct pmend_finding *in)
{
	struct run *r = run_of(c);
	struct finding f = { .severity = in->severity == PMEND_PERFORMANCE ? FINDING_PERFORMANCE
									   : FINDING_CORRECTNESS,
			     .first_seq = in->seq };

	f.kind = keep(
		r, xasprintf("%s/%s", r->oracle->name, is_name(in->kind) ? in->kind : "unnamed"));
	f.message = keep(r, xasprintf("%s", in->message ? in->message : ""));
	f.advice = in->advice ? keep(r, xasprintf("%s", in->advice)) : NULL;
	for (; f.nplaces < in->nplaces && f.nplaces < PMEND_MAX_PLACES; f.nplaces++) {
		const struct pmend_place *p = &in->places[f.nplaces];

		f.places[f.nplaces].role = keep(r, xasprintf("%s", p->role ? p->role : "event"));
		f.places[f.nplaces].site = (const struct trace_site *)p->site;
	}
	check_report(r->check, &f);
}

static int host_is_durable(struct pmend_check *c, const struct pmend_range *r)
{
	struct range at = range_to(r);

	return model_is_durable(check_model(run_of(c)->check), at.from, at.to - at.from);
}

struct walk {
	void (*f)(const struct pmend_store *s, void *arg);
	void *arg;
};

static void walk_store(const struct model_store *s, void *arg)
{
	const struct walk *w = arg;
	struct pmend_store out = { .seq = s->seq,
				   .process = s->stream,
				   .thread = s->thread,
				   .kind = s->kind,
				   .at = range_from(s->addr, s->size_bytes),
				   .is_pending = s->state == MODEL_PENDING,
				   .is_overwritten = s->is_overwritten,
				   .site = site_from(s->site) };

	w->f(&out, w->arg);
}

static void host_each_unpersisted(struct pmend_check *c, const struct pmend_range *r,
				  void (*f)(const struct pmend_store *s, void *arg), void *arg)
{
	struct range at = range_to(r);
	struct walk w = { f, arg };

	model_each(check_model(run_of(c)->check), at.from, at.to - at.from, walk_store, &w);
}

static int host_is_ignored(struct pmend_check *c, const struct pmend_range *r)
{
	struct range at = range_to(r);

	return check_is_ignored(run_of(c)->check, at.from, at.to - at.from);
}

static const char *host_platform(struct pmend_check *c)
{
	return check_platform(run_of(c)->check)->name;
}

static const struct pmend_host host = {
	.report = host_report,
	.is_durable = host_is_durable,
	.each_unpersisted = host_each_unpersisted,
	.is_ignored = host_is_ignored,
	.platform = host_platform,
};

/* ---- running an oracle ---- */

void *plugin_begin(const struct plugin *p, struct check *c)
{
	struct run *r = xcalloc(1, sizeof *r);

	r->oracle = p->oracle;
	r->check = c;
	r->state = p->oracle->begin(&host, (struct pmend_check *)r);
	return r;
}

static void plugin_step(void *arg, struct check *c, const struct trace_event *ev)
{
	const struct run *r = arg;
	struct pmend_event out = event_from(ev);

	(void)c;
	r->oracle->event(r->state, &out);
}

static void plugin_finish(void *arg, struct check *c)
{
	const struct run *r = arg;

	(void)c;
	if (r->oracle->finish)
		r->oracle->finish(r->state);
}

static void plugin_end(void *arg)
{
	struct run *r = arg;

	if (r->oracle->end)
		r->oracle->end(r->state);
	for (size_t i = 0; i < r->kept.n; i++)
		free(r->kept.at[i]);
	vec_release(&r->kept);
	map_release(&r->texts);
	free(r);
}

const struct oracle oracle_plugin = {
	.name = "plug-in",
	.help = "an oracle from a shared object",
	.classes = EVENT_STORE | EVENT_LOAD | EVENT_FLUSH | EVENT_FENCE,
	.step = plugin_step,
	.finish = plugin_finish,
	.end = plugin_end,
};
