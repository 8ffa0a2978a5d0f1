/* See race_report.h. */
#include "cmd/race_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NOTED_MAX 8

static bool is_bug(const struct race *r)
{
	return r->state == RACE_BUG || r->state == RACE_UNKNOWN;
}

bool race_report_has_bugs(const struct crash_result *c)
{
	for (size_t i = 0; i < c->races.n; i++)
		if (is_bug(&c->races.at[i]))
			return true;
	return false;
}

static const struct trace_site *site_of(const struct plan *p, uint32_t id)
{
	return id < p->sites.n ? p->sites.at[id] : NULL;
}

/* ---- the reader ---- */

typedef VEC(struct frame) frame_list;

static size_t find_reader(const struct crash_result *c, const struct race *r, struct symbols *symbols, frame_list *out)
{
	for (size_t i = 0; i < r->stack.n; i++) {
		const struct symbol *list;
		size_t n = crash_report_symbols(c, r->part, symbols, r->stack.at[i], i > 0, &list);

		for (size_t k = 0; k < n; k++)
			*vec_add(out) = (struct frame){ .symbol = &list[k], .pc = r->stack.at[i] };
	}
	return out->n ? locate_shown(out->at, out->n) : 0;
}

/* "main.c:14 (recover)" */
static char *place_text(const struct symbol *s)
{
	const char *slash = s->file ? strrchr(s->file, '/') : NULL;

	if (!s->file)
		return xasprintf("%s+0x%" PRIx64, s->object ? s->object : "?", s->offset);
	return xasprintf("%s:%" PRIu32 "%s%s%s", slash ? slash + 1 : s->file, s->line, s->function ? " (" : "", s->function ? s->function : "",
			 s->function ? ")" : "");
}

static char *reader_text(const struct crash_result *c, const struct race *r, struct symbols *symbols)
{
	frame_list frames = { 0 };
	size_t shown = find_reader(c, r, symbols, &frames);
	char *text = frames.n ? place_text(frames.at[shown].symbol) : xstrdup("?");

	vec_release(&frames);
	return text;
}

/* ---- together with what crashes showed ---- */

static bool same_line(struct locator *l, const struct plan *p, uint32_t a, uint32_t b)
{
	const struct frame *x, *y;
	struct symbol first;

	if (a == b)
		return true;
	x = locate(l, site_of(p, a));
	if (!x)
		return false;
	first = *x->symbol;
	y = locate(l, site_of(p, b));
	return y && first.line && first.line == y->symbol->line && first.file && y->symbol->file && strcmp(first.file, y->symbol->file) == 0;
}

static bool is_same_loss(const struct plan *p, struct locator *l, const struct race *r, const struct crash_bug *b)
{
	for (size_t i = 0; i < b->lost.n; i++)
		if (same_line(l, p, b->lost.at[i].site, r->store.site))
			return true;
	return false;
}

char *race_report_evidence(const struct crash_result *c, const struct plan *p, const struct crash_bug *b, struct locator *l,
			   struct symbols *symbols)
{
	for (size_t i = 0; i < c->races.n; i++) {
		const struct race *r = &c->races.at[i];
		char *reader, *text;

		if (!is_bug(r) || !is_same_loss(p, l, r, b))
			continue;
		reader = reader_text(c, r, symbols);
		text = xasprintf("recovery reads it at %s, where it can be %s", reader, r->values);
		free(reader);
		return text;
	}
	return NULL;
}

/* ---- bugs ---- */

typedef VEC(struct bug_frame) bug_frames;

static void add_frames(bug_frames *out, const struct frame *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct bug_frame *f = vec_add(out);

		*f = locate_bug_frame(list[i].symbol);
		f->is_signal = list[i].is_signal;
	}
}

static char *message_of(const struct plan *p, const struct race *r)
{
	const struct trace_file *f = trace_file(p->trace, PMT_FILE(r->addr));
	const char *slash = f && f->path ? strrchr(f->path, '/') : NULL, *name = slash ? slash + 1 : f && f->path ? f->path : "?";

	if (!strstr(r->values, " or "))
		return xasprintf("recovery reads %" PRIu32 " byte%s at %s+0x%" PRIx64
				 " before the store there is guaranteed to be durable, though all possible values are %s",
				 r->len_bytes, r->len_bytes == 1 ? "" : "s", name, (uint64_t)PMT_OFFSET(r->addr), r->values);
	return xasprintf("recovery reads %" PRIu32 " byte%s at %s+0x%" PRIx64
			 " whose last store is not guaranteed to be durable: what it finds can be %s",
			 r->len_bytes, r->len_bytes == 1 ? "" : "s", name, (uint64_t)PMT_OFFSET(r->addr), r->values);
}

/* Recovery did not fail: its choices are of interest. */
static char *show_command(const struct crash_setup *s, uint64_t point, const char *trace)
{
	static const char begin[] = "pmend crash";
	char *state = xasprintf("%" PRIu64, point), *plain = crash_setup_replay(s, state, trace);
	char *command = xasprintf("%s --show-choices%s", begin, plain + strlen(begin));

	free(state);
	free(plain);
	return command;
}

static void add_race(struct report *report, const struct plan *p, const struct crash_result *c, const struct race *r, struct locator *l,
		     struct symbols *symbols, const struct crash_setup *s, const char *trace)
{
	char *command = show_command(s, r->point, trace), *message = message_of(p, r);
	struct bug_crash crash = { .failure_point = r->point, .outcome = r->outcome, .replay = command };
	frame_list reader = { 0 };
	bug_frames frames = { 0 };
	const struct frame *writer;
	size_t shown = find_reader(c, r, symbols, &reader), nreader, nwriter = locate_stack(l, site_of(p, r->store.site), &writer);
	struct bug_location where[2] = { { .role = "read", .shown = shown }, { .role = "store", .shown = locate_shown(writer, nwriter) } };
	struct bug b = { .kind = "cross-failure-race",
			 .severity = BUG_CORRECTNESS,
			 .message = message,
			 .count = r->count,
			 .first_seq = r->store.seq,
			 .locations = where,
			 .nlocations = 2,
			 .crash = &crash };

	add_frames(&frames, reader.at, reader.n);
	nreader = frames.n;
	add_frames(&frames, writer, nwriter);
	where[0].frames = frames.at;
	where[0].nframes = nreader;
	where[1].frames = frames.at + nreader;
	where[1].nframes = nwriter;
	report_add(report, &b);
	vec_release(&frames);
	vec_release(&reader);
	free(command);
	free(message);
}

/* One line that reads and one that stores are one bug, whoever calls them. */
static bool is_same_bug(const struct plan *p, const struct crash_result *c, const struct race *a, const struct race *b, struct locator *l,
			struct symbols *symbols)
{
	char *x, *y;
	bool is_same;

	if (a->part != b->part || !same_line(l, p, a->store.site, b->store.site))
		return false;
	x = reader_text(c, a, symbols);
	y = reader_text(c, b, symbols);
	is_same = strcmp(x, y) == 0;
	free(x);
	free(y);
	return is_same;
}

void race_report_add(struct report *r, const struct plan *p, const struct crash_result *c, struct locator *l, struct symbols *symbols,
		     const struct crash_setup *s, const char *trace)
{
	bool *is_told = xcalloc(c->races.n + 1, sizeof *is_told);

	for (size_t i = 0; i < c->races.n; i++) {
		struct race sum = c->races.at[i];

		is_told[i] |= !is_bug(&sum);
		for (size_t k = 0; k < c->bugs.n && !is_told[i]; k++)
			is_told[i] = is_same_loss(p, l, &sum, &c->bugs.at[k]);
		if (is_told[i])
			continue;
		for (size_t k = i + 1; k < c->races.n; k++)
			if (is_bug(&c->races.at[k]) && is_same_bug(p, c, &sum, &c->races.at[k], l, symbols)) {
				sum.count += c->races.at[k].count;
				is_told[k] = true;
			}
		add_race(r, p, c, &sum, l, symbols, s, trace);
	}
	free(is_told);
}

/* ---- what is no bug ---- */

char *race_report_note(const struct crash_result *c, const struct plan *p)
{
	struct locator *l = locator_new(p->trace);
	struct symbols *symbols = symbols_new();
	VEC(char *) noted = { 0 };
	size_t len;
	char *text;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		BUG("no memory stream");
	for (size_t i = 0; i < c->races.n && noted.n < NOTED_MAX; i++) {
		const struct race *r = &c->races.at[i];
		const struct frame *store = is_bug(r) ? NULL : locate(l, site_of(p, r->store.site));
		char *writer, *reader, *both;
		size_t k = 0;

		if (!store)
			continue;
		writer = place_text(store->symbol);
		reader = reader_text(c, r, symbols);
		both = xasprintf("%s%s, read at %s", r->state == RACE_CHECKSUM ? "(verified as a whole) " : r->state == RACE_HARMLESS ? "(without effect) " : "", writer, reader);
		while (k < noted.n && strcmp(noted.at[k], both) != 0)
			k++;
		if (k == noted.n) {
			fprintf(f, "%s%s", noted.n ? "; " : "Reads that are taken to be meant so (inferred commit variables and others): stored at ", both);
			*vec_add(&noted) = both;
		} else {
			free(both);
		}
		free(writer);
		free(reader);
	}
	fclose(f);
	for (size_t i = 0; i < noted.n; i++)
		free(noted.at[i]);
	vec_release(&noted);
	symbols_free(symbols);
	locator_free(l);
	if (len > 0)
		return text;
	free(text);
	return NULL;
}
