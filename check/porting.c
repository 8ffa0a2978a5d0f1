/* Finds stores of an amd64 program that rely on amd64's order inside a cache line. On amd64, a
 * store that follows others in its line without a fence in between survives a crash only together
 * with them. On arm64 it can survive without them, unless it is a release. The recording does not
 * show releases, so the finding says "safe if". A line is checked when it is flushed: the last
 * store before the flush is probably the one that announces the others. */
#include "check/oracle.h"

#include "util/alloc.h"
#include "util/vec.h"

static const char KIND[] = "porting";

struct state {
	VEC(struct model_store) stores; /* of a line, the oldest first */
};

static void *porting_begin(void)
{
	return xcalloc(1, sizeof(struct state));
}

static void porting_end(void *arg)
{
	struct state *s = arg;

	vec_release(&s->stores);
	free(s);
}

static void collect(const struct model_store *store, void *arg)
{
	*vec_add(&((struct state *)arg)->stores) = *store;
}

/* Is the site in a library's copy function? Such a function stores in any order, and no program
 * takes a part of a copy as a sign of the rest. */
static bool is_library(const struct trace_site *site)
{
	return check_is_runtime_code(site) || check_is_pmdk_code(site);
}

static bool is_sign(const struct check *c, const struct model_store *s,
		    const struct trace_event *flush)
{
	return s->stream == flush->stream && s->thread == flush->thread && s->kind == PMT_STORE &&
	       s->size_bytes <= 8 && s->state == MODEL_DIRTY && !s->is_overwritten &&
	       !is_library(s->site) && !check_is_ignored(c, s->addr, s->size_bytes);
}

static bool may_be_lost(const struct check *c, const struct model_store *s,
			const struct model_store *sign, uint64_t kept)
{
	uint64_t bytes = (s->size_bytes < 64 ? ((uint64_t)1 << s->size_bytes) - 1 : ~(uint64_t)0)
			 << s->addr % PMT_LINE_BYTES;

	return s->seq < sign->seq && s->site != sign->site && !s->is_overwritten &&
	       (bytes & ~kept) && !is_library(s->site) &&
	       !check_is_ignored(c, s->addr, s->size_bytes);
}

static void judge_line(struct state *s, struct check *c, const struct trace_event *flush)
{
	const struct model_store *sign;
	uint64_t kept;

	s->stores.n = 0;
	model_each(check_model(c), flush->addr & ~(uint64_t)(PMT_LINE_BYTES - 1), PMT_LINE_BYTES,
		   collect, s);
	if (s->stores.n < 2)
		return;
	sign = &s->stores.at[0];
	for (size_t i = 1; i < s->stores.n; i++)
		if (s->stores.at[i].seq > sign->seq)
			sign = &s->stores.at[i];
	if (!is_sign(c, sign, flush))
		return;
	kept = model_kept_with(check_model(c), sign->addr);
	for (size_t i = 0; i < s->stores.n; i++) {
		struct finding f = { .kind = KIND, .first_seq = sign->seq, .nplaces = 2 };

		if (!may_be_lost(c, &s->stores.at[i], sign, kept))
			continue;
		f.message =
			"no fence orders this store after an earlier one to the same line; on arm64 a crash may show it without the earlier one; "
			"safe if this store is a release, or if recovery does not rely on their order";
		f.places[0] = (struct finding_place){ "survived", sign->site };
		f.places[1] = (struct finding_place){ "lost", s->stores.at[i].site };
		check_report(c, &f);
		return;
	}
}

static void porting_step(void *arg, struct check *c, const struct trace_event *ev)
{
	if (model_is_ported(check_model(c)) && trace_is_flush(ev->kind))
		judge_line(arg, c, ev);
}

static bool porting_is_asleep(const void *state, const struct check *c)
{
	(void)state;
	return !model_is_ported(check_model(c));
}

const struct oracle oracle_porting = {
	.name = "porting",
	.help = "of an amd64 recording on arm64: stores that must be releases there: porting",
	.classes = EVENT_FLUSH,
	.is_asleep = porting_is_asleep,
	.begin = porting_begin,
	.step = porting_step,
	.end = porting_end,
};
