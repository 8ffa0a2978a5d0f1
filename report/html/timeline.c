/* Draws the timeline as SVG: a lane for each thread with its events as marks, below it a band for
 * each row of bytes (dirty, being written back, durable), and a line where the crash comes. The
 * same events follow as a table, for those who do not see the drawing. */
#include <inttypes.h>
#include <string.h>

#include "report/html/html.h"
#include "util/str.h"

#define LABEL_WIDTH 150u
#define COLUMN_WIDTH 26u
#define GAP_WIDTH 46u
#define LANE_HEIGHT 44u
#define BAND_HEIGHT 16u
#define BAND_STEP 24u
#define TOP 20u
#define LANES_MAX 16u
#define TAIL_WIDTH 70u

struct lane {
	uint32_t process, thread;
};

struct drawing {
	const struct page *p;
	const struct evidence *e;
	struct lane lanes[LANES_MAX];
	size_t nlanes;
	bool has_processes;
	unsigned *x; /* x coordinate of the middle of each event */
	unsigned end, width, height;
};

static size_t lane_of(const struct drawing *d, const struct evidence_event *ev)
{
	for (size_t i = 0; i < d->nlanes; i++)
		if (d->lanes[i].process == ev->process && d->lanes[i].thread == ev->thread)
			return i;
	/* if there are more threads than lanes, the others share the last lane */
	return d->nlanes ? d->nlanes - 1 : 0;
}

static void drawing_init(struct drawing *d, const struct page *p, const struct evidence *e)
{
	unsigned x = LABEL_WIDTH;

	*d = (struct drawing){ .p = p, .e = e, .x = xcalloc(e->nevents + 1, sizeof *d->x) };
	for (size_t i = 0; i < e->nevents; i++) {
		const struct evidence_event *ev = &e->events[i];
		const struct lane *l = d->nlanes ? &d->lanes[lane_of(d, ev)] : NULL;

		d->has_processes |= ev->process > 0;
		if ((!l || l->process != ev->process || l->thread != ev->thread) &&
		    d->nlanes < LANES_MAX)
			d->lanes[d->nlanes++] = (struct lane){ ev->process, ev->thread };
		x += ev->skipped ? GAP_WIDTH : 0;
		d->x[i] = x + COLUMN_WIDTH / 2;
		x += COLUMN_WIDTH;
	}
	x += e->after ? GAP_WIDTH : 0;
	d->end = x + 6;
	d->width = d->end + TAIL_WIDTH;
	d->height = TOP + (unsigned)d->nlanes * LANE_HEIGHT + (unsigned)e->nrows * BAND_STEP + 8;
}

enum shape {
	SHAPE_STORE,
	SHAPE_FLUSH,
	SHAPE_FENCE,
	SHAPE_BEGIN,
	SHAPE_END,
	SHAPE_OUTPUT,
	SHAPE_OTHER
};

static enum shape shape_of(const char *kind)
{
	static const char *const fences[] = { "sfence", "mfence", "rmw-fence", "dsb", "dmb" };

	if (str_begins(kind, "store"))
		return SHAPE_STORE;
	if (str_begins(kind, "clflush") || str_begins(kind, "clwb") || str_begins(kind, "dc-") ||
	    strcmp(kind, "msync") == 0 || strcmp(kind, "fsync") == 0 ||
	    strcmp(kind, "fdatasync") == 0)
		return SHAPE_FLUSH;
	for (size_t i = 0; i < sizeof fences / sizeof *fences; i++)
		if (strcmp(kind, fences[i]) == 0)
			return SHAPE_FENCE;
	if (strcmp(kind, "op-begin") == 0 || strcmp(kind, "tx-begin") == 0)
		return SHAPE_BEGIN;
	if (strcmp(kind, "op-end") == 0 || strcmp(kind, "tx-end") == 0)
		return SHAPE_END;
	return strcmp(kind, "output") == 0 ? SHAPE_OUTPUT : SHAPE_OTHER;
}

/* Writes one line of text about an event: the tooltip of the mark, and the row of the table. */
static void put_about(const struct page *p, const struct evidence *e,
		      const struct evidence_event *ev)
{
	fprintf(p->f, "event %" PRIu64 ", ", ev->seq);
	if (ev->process)
		fprintf(p->f, "process %" PRIu32 ", ", ev->process);
	fprintf(p->f, "thread %" PRIu32 ": ", ev->thread);
	put_short(p, ev->kind, NAME_SHOWN_BYTES);
	if (ev->size_bytes && ev->row)
		fprintf(p->f, ", %" PRIu32 " bytes", ev->size_bytes);
	if (ev->row && ev->row <= e->nrows) {
		fputs(shape_of(ev->kind) == SHAPE_STORE ? " to " : " of ", p->f);
		put_short(p, e->rows[ev->row - 1].file ? path_base(e->rows[ev->row - 1].file) : "?",
			  NAME_SHOWN_BYTES);
		fprintf(p->f, "+0x%" PRIx64, ev->offset);
	}
	if (ev->field) {
		fputs(" (", p->f);
		put_short(p, ev->field, NAME_SHOWN_BYTES);
		putc(')', p->f);
	}
	if (ev->what) {
		fputs(shape_of(ev->kind) == SHAPE_STORE ? " = " : " ", p->f);
		put_short(p, ev->what, 80);
	}
	if (ev->role) {
		fputs(" \xe2\x80\x94 ", p->f);
		put_short(p, role_text(ev->role), NAME_SHOWN_BYTES);
	}
}

static void put_line_of(const struct page *p, const struct evidence_event *ev)
{
	size_t len = 0;
	const char *line =
		ev->file && ev->line ? source_line(p->sources, ev->file, ev->line, &len) : NULL;

	if (!ev->file)
		return;
	put_short(p, path_base(ev->file), NAME_SHOWN_BYTES);
	fprintf(p->f, ":%" PRIu32, ev->line);
	while (line && len && (*line == ' ' || *line == '\t'))
		line++, len--;
	if (line) {
		fputs("  ", p->f);
		escape_html(p->f, line, len < 160 ? len : 160);
	}
}

static void put_shape(FILE *f, enum shape shape, unsigned x, unsigned y)
{
	switch (shape) {
	case SHAPE_STORE:
		fprintf(f, "<rect x=\"%u\" y=\"%u\" width=\"12\" height=\"12\" rx=\"2\"/>", x - 6,
			y - 6);
		break;
	case SHAPE_FLUSH: fprintf(f, "<path d=\"M%u %uh14l-7 12z\"/>", x - 7, y - 6); break;
	case SHAPE_FENCE:
		fprintf(f, "<rect x=\"%u\" y=\"%u\" width=\"4\" height=\"24\" rx=\"1\"/>", x - 2,
			y - 12);
		break;
	case SHAPE_BEGIN: fprintf(f, "<path d=\"M%u %uh6v3h-3v12h3v3h-6z\"/>", x - 3, y - 9); break;
	case SHAPE_END: fprintf(f, "<path d=\"M%u %uh-6v3h3v12h-3v3h6z\"/>", x + 3, y - 9); break;
	case SHAPE_OUTPUT: fprintf(f, "<path d=\"M%u %ul7 7l-7 7l-7 -7z\"/>", x, y - 7); break;
	case SHAPE_OTHER: fprintf(f, "<circle cx=\"%u\" cy=\"%u\" r=\"4\"/>", x, y); break;
	}
}

static const char *shape_class(enum shape shape)
{
	static const char *const names[] = { "st", "fl", "fe", "op", "op", "ou", "ot" };

	return names[shape];
}

static void put_mark(const struct drawing *d, size_t i)
{
	const struct evidence_event *ev = &d->e->events[i];
	const unsigned y = TOP + (unsigned)lane_of(d, ev) * LANE_HEIGHT + LANE_HEIGHT / 2;
	const enum shape shape = shape_of(ev->kind);
	FILE *f = d->p->f;

	fprintf(f, "<g class=\"ev %s %s\"><title>", shape_class(shape),
		ev->role ? role_class(ev->role) : "");
	put_about(d->p, d->e, ev);
	putc('\n', f);
	put_line_of(d->p, ev);
	fprintf(f, "</title><rect class=\"hot\" x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\"/>",
		d->x[i] - COLUMN_WIDTH / 2, y - LANE_HEIGHT / 2, COLUMN_WIDTH, LANE_HEIGHT);
	put_shape(f, shape, d->x[i], y);
	if (ev->role && (strcmp(ev->role, "lost") == 0 || strcmp(ev->role, "survived") == 0))
		fprintf(f, "<text class=\"tick\" x=\"%u\" y=\"%u\">%s</text>", d->x[i], y - 10,
			ev->role[0] == 'l' ? "\xe2\x9c\x98" : "\xe2\x9c\x94");
	fputs("</g>", f);
	if (shape == SHAPE_BEGIN && ev->what) {
		fprintf(f, "<text class=\"op\" x=\"%u\" y=\"%u\">", d->x[i] - 3, y - 13);
		put_short(d->p, ev->what, 24);
		fputs("</text>", f);
	}
}

static void put_gap(const struct drawing *d, unsigned x, uint64_t skipped)
{
	fprintf(d->p->f,
		"<g class=\"gap\"><title>%" PRIu64
		" events of other memory, not shown</title><rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\"/><text x=\"%u\" y=\"%u\">",
		skipped, x + 3, TOP, GAP_WIDTH - 6, (unsigned)d->nlanes * LANE_HEIGHT,
		x + GAP_WIDTH / 2, TOP + (unsigned)d->nlanes * LANE_HEIGHT / 2 + 4);
	if (skipped < 10000)
		fprintf(d->p->f, "+%" PRIu64, skipped);
	else
		fprintf(d->p->f, skipped < 10000000 ? "+%" PRIu64 "k" : "+%" PRIu64 "M",
			skipped < 10000000 ? skipped / 1000 : skipped / 1000000);
	fputs("</text></g>\n", d->p->f);
}

static void put_lanes(const struct drawing *d)
{
	FILE *f = d->p->f;

	for (size_t i = 0; i < d->nlanes; i++) {
		const unsigned y = TOP + (unsigned)i * LANE_HEIGHT + LANE_HEIGHT / 2;

		fprintf(f, "<text class=\"lane\" x=\"0\" y=\"%u\">", y + 4);
		if (d->has_processes)
			fprintf(f, "process %" PRIu32 ", ", d->lanes[i].process);
		fprintf(f, "thread %" PRIu32 "</text><path class=\"axis\" d=\"M%u %uH%u\"/>\n",
			d->lanes[i].thread, LABEL_WIDTH, y, d->end);
	}
}

static const char *state_name(char c)
{
	return c == 'x' ? "dirty" : c == 'p' ? "being written back" : "durable";
}

static const char *state_short(char c)
{
	return c == 'x' ? "dirty" : c == 'p' ? "writing" : "durable";
}

/* Draws a band from one event to the event where the state changes. */
static void put_segment(const struct drawing *d, size_t row, char state, unsigned from, unsigned to)
{
	const unsigned y = TOP + (unsigned)d->nlanes * LANE_HEIGHT + (unsigned)row * BAND_STEP;

	fprintf(d->p->f,
		"<g class=\"b%c\"><title>%s</title><rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\"/>",
		state, state_name(state), from, y, to - from, BAND_HEIGHT);
	if (to - from >= 50)
		fprintf(d->p->f, "<text x=\"%u\" y=\"%u\">%s</text>", from + 5, y + 12,
			state_short(state));
	fputs("</g>", d->p->f);
}

static void put_band(const struct drawing *d, size_t row)
{
	const struct evidence_row *r = &d->e->rows[row];
	const unsigned y = TOP + (unsigned)d->nlanes * LANE_HEIGHT + (unsigned)row * BAND_STEP;
	unsigned from = LABEL_WIDTH;
	char state = 0;

	fprintf(d->p->f, "<text class=\"lane\" x=\"0\" y=\"%u\">", y + 12);
	put_short(d->p,
		  r->nfields ? r->fields[0].name
		  : r->file  ? path_base(r->file)
			     : "?",
		  r->nfields ? 20 : 12);
	if (!r->nfields)
		fprintf(d->p->f, "+0x%" PRIx64, r->offset);
	fputs("</text>", d->p->f);
	for (size_t i = 0; i < d->e->nevents; i++) {
		const char *states = d->e->events[i].states;

		if (!states || states[row] == state)
			continue;
		if (state && d->x[i] > from)
			put_segment(d, row, state, from, d->x[i]);
		from = d->x[i];
		state = states[row];
	}
	if (state)
		put_segment(d, row, state, from, d->end);
	putc('\n', d->p->f);
}

static void put_crash_line(const struct drawing *d)
{
	if (d->e->crash_seq)
		fprintf(d->p->f,
			"<g class=\"crash\"><title>the crash comes before event %" PRIu64
			"</title><path d=\"M%u 4V%u\"/><text x=\"%u\" y=\"14\">crash</text></g>\n",
			d->e->crash_seq, d->end, d->height, d->end + 6);
}

/* Explains the shapes that occur in this drawing. */
static void put_legend(const struct drawing *d)
{
	static const char *const names[] = { "store", "flush",  "fence", "operation or transaction",
					     "",      "output", "other" };
	bool is_there[SHAPE_OTHER + 1] = { false };

	for (size_t i = 0; i < d->e->nevents; i++)
		is_there[shape_of(d->e->events[i].kind)] = true;
	is_there[SHAPE_BEGIN] |= is_there[SHAPE_END];
	is_there[SHAPE_END] = false;
	fputs("<p class=\"legend\">", d->p->f);
	for (unsigned s = 0; s <= SHAPE_OTHER; s++) {
		if (!is_there[s])
			continue;
		fprintf(d->p->f,
			"<span><svg width=\"18\" height=\"26\" aria-hidden=\"true\"><g class=\"ev %s\">",
			shape_class(s));
		put_shape(d->p->f, s, 9, 13);
		fprintf(d->p->f, "</g></svg>%s</span> ", names[s]);
	}
	fputs("<span class=\"key kx\">dirty</span> <span class=\"key kp\">being written back</span> <span class=\"key kd\">durable</span></p>\n",
	      d->p->f);
}

static void put_table(const struct drawing *d)
{
	FILE *f = d->p->f;

	fputs("<details class=\"events\"><summary>The same as a table</summary>\n<div class=\"scroll\" tabindex=\"0\"><table><tbody>\n",
	      f);
	for (size_t i = 0; i < d->e->nevents; i++) {
		const struct evidence_event *ev = &d->e->events[i];

		if (ev->skipped)
			fprintf(f,
				"<tr class=\"gap\"><td colspan=\"2\">%" PRIu64
				" events not shown</td></tr>",
				ev->skipped);
		fprintf(f, "<tr class=\"%s\"><td>", ev->role ? role_class(ev->role) : "");
		put_about(d->p, d->e, ev);
		fputs("</td><td><code>", f);
		put_line_of(d->p, ev);
		fputs("</code></td></tr>\n", f);
	}
	if (d->e->after)
		fprintf(f,
			"<tr class=\"gap\"><td colspan=\"2\">%" PRIu64
			" events not shown</td></tr>",
			d->e->after);
	if (d->e->crash_seq)
		fprintf(f,
			"<tr class=\"lost\"><td colspan=\"2\">crash, before event %" PRIu64
			"</td></tr>",
			d->e->crash_seq);
	fputs("</tbody></table></div></details>\n", f);
}

void put_timeline(const struct page *p, const struct evidence *e, const char *id)
{
	struct drawing d;

	if (e->nevents == 0)
		return;
	drawing_init(&d, p, e);
	fputs("<h3>Timeline", p->f);
	if (e->input) {
		fputs(" <span class=\"sub\">with the input ", p->f);
		put_cut(p, e->input, NAME_SHOWN_BYTES);
		fputs("</span>", p->f);
	}
	fprintf(p->f,
		"</h3>\n<div class=\"scroll time\" tabindex=\"0\" role=\"region\" aria-label=\"Timeline of %s\">\n"
		"<svg width=\"%u\" height=\"%u\" viewBox=\"0 0 %u %u\" role=\"img\" aria-label=\"%zu events; the table below says the same\">\n",
		id, d.width, d.height, d.width, d.height, e->nevents);
	put_lanes(&d);
	for (size_t i = 0; i < e->nrows; i++)
		put_band(&d, i);
	for (size_t i = 0; i < e->nevents; i++) {
		if (e->events[i].skipped)
			put_gap(&d, d.x[i] - COLUMN_WIDTH / 2 - GAP_WIDTH, e->events[i].skipped);
		put_mark(&d, i);
	}
	if (e->after)
		put_gap(&d, d.end - 6 - GAP_WIDTH, e->after);
	put_crash_line(&d);
	fputs("</svg></div>\n<p class=\"detail\" aria-live=\"polite\"></p>\n", p->f);
	put_legend(&d);
	put_table(&d);
	free(d.x);
}
