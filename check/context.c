/* Answers what oracles ask besides the model: which bytes do not matter, whose code an instruction
 * is, and whether a moment is looked at. Annotations in the trace decide (context_note); reports
 * about other moments are dropped. */
#include "check/check_internal.h"

#include "trace/owner.h"

const struct model *check_model(const struct check *c)
{
	return c->model;
}

const struct platform *check_platform(const struct check *c)
{
	return c->platform;
}

bool check_follows_files(const struct check *c)
{
	return c->followed && c->followed->n > 0;
}

enum model_use check_flush_use(struct check *c, const struct trace_event *flush)
{
	if (c->use_seq != flush->seq)
		c->use = model_flush_use(c->model, flush);
	c->use_seq = flush->seq;
	return c->use;
}

const struct ranges *check_unread(const struct check *c)
{
	return &c->unread;
}

/* ---- moments ---- */

/* Is the event looked at? The moment of the store, flush or fence counts, not that of the
 * report. */
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
		if (!c->has_roi) { /* now it turns out that everything before is outside */
			findings_clear(&c->findings);
			c->watches.n = 0;
			c->has_roi = true;
		}
		c->in_roi = true;
		break;
	case PMT_ROI_END: c->in_roi = false; break;
	default: return;
	}
	*vec_add(&c->watches) =
		(struct watch){ ev->seq, c->skip_depth == 0 && (!c->has_roi || c->in_roi) };
}

void check_report(struct check *c, const struct finding *f)
{
	if (!is_watched(c, f->first_seq))
		return;
	findings_add(&c->findings, f);
	if (c->on_finding)
		c->on_finding(f, c->arg);
}

bool check_is_same_line(const struct check *c, const struct trace_site *a,
			const struct trace_site *b)
{
	return c->is_same_line && c->is_same_line(a, b, c->line_arg);
}

void check_note_served(struct check *c, const struct trace_site *flush,
		       const struct trace_site *store)
{
	*vec_add(&c->served) = (struct check_served){ flush, store };
}

void check_note_candidate(struct check *c, const struct trace_site *store,
			  const struct trace_site *load)
{
	*vec_add(&c->candidates) = (struct check_candidate){ store, load };
}

/* ---- bytes and code that do not matter ---- */

/* Gives the end of the range of r that contains addr; addr itself if none does. */
static uint64_t end_in(const struct ranges *r, uint64_t addr)
{
	const struct range *at = ranges_find(r, addr);

	return at && at->from <= addr ? at->to : addr;
}

/* Are all bytes ignored? One declaration may cover some of them, and another one the rest. */
bool check_is_ignored(const struct check *c, uint64_t addr, uint64_t len_bytes)
{
	const struct ranges *const declared[] = { &c->ignored, &c->clean, &c->unread };
	uint64_t end = addr + len_bytes, from;

	do {
		from = addr;
		for (size_t i = 0; i < sizeof declared / sizeof *declared && addr < end; i++)
			addr = end_in(declared[i], addr);
	} while (addr > from && addr < end);
	return addr >= end;
}

bool check_is_runtime_code(const struct trace_site *site)
{
	return owner_of_site(site) == OWNER_RUNTIME;
}

bool check_is_pmdk_code(const struct trace_site *site)
{
	return owner_of_site(site) == OWNER_PMDK;
}

struct range check_written_back(const struct check *c, const struct trace_event *ev)
{
	enum platform_flush flush = platform_flush(c->platform, ev->kind);
	uint64_t len_bytes, start = platform_flushed(ev, &len_bytes);

	if (flush == FLUSH_NOW || flush == FLUSH_AT_FENCE)
		return (struct range){ start, start + len_bytes };
	if (ev->kind == PMT_MSYNC) {
		start = platform_synced(ev, &len_bytes);
		return (struct range){ start, start + len_bytes };
	}
	if (ev->kind != PMT_FSYNC && ev->kind != PMT_FDATASYNC)
		return (struct range){ 0, 0 };
	return ev->arg[0] ? (struct range){ PMT_ADDR(ev->arg[0], 0), PMT_ADDR(ev->arg[0] + 1, 0) }
			  : (struct range){ 0, UINT64_MAX };
}

bool check_is_cut(const struct check *c, uint32_t stream, uint32_t thread, uint64_t seq)
{
	return cut_is(&c->cut, stream, thread, seq);
}

bool check_is_cut_process(const struct check *c, uint32_t stream)
{
	return cut_is_process(&c->cut, stream);
}

bool check_has_exited(const struct check *c, uint32_t stream)
{
	return stream < c->exited.n && c->exited.at[stream];
}

/* ---- annotations ---- */

static void note_exit(struct check *c, uint32_t stream)
{
	while (c->exited.n <= stream)
		*vec_add(&c->exited) = false;
	c->exited.at[stream] = true;
}

void context_note(struct check *c, const struct trace_event *ev)
{
	if (!c->is_again)
		cut_step(&c->cut, ev);
	switch (ev->kind) {
	case PMT_IGNORE: ranges_add(&c->ignored, ev->addr, ev->arg[0]); break;
	case PMT_NOT_PM: ranges_add(&c->not_pm, ev->addr, ev->arg[0]); break;
	case PMT_IS_PM: ranges_remove(&c->not_pm, ev->addr, ev->arg[0]); break;
	case PMT_SET_CLEAN: ranges_add(&c->clean, ev->addr, ev->arg[0]); break;
	case PMT_STORE:
	case PMT_STORE_NT:
	case PMT_STORE_RMW:
	case PMT_STORE_SYS:
	case PMT_STORE_PAIR:
	case PMT_STORE_VECTOR:
	case PMT_STORE_ORDERED:
		if (c->clean.list.n)
			ranges_remove(&c->clean, ev->addr, ev->size_bytes);
		break;
	case PMT_SKIP_CHECK_BEGIN:
	case PMT_SKIP_CHECK_END:
	case PMT_ROI_BEGIN:
	case PMT_ROI_END:
		if (!c->is_again)
			note_watch(c, ev);
		break;
	case PMT_EXIT: note_exit(c, ev->stream); break;
	default: break; /* other kinds have no meaning here */
	}
}
