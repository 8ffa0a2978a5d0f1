/* Shows the source of a bug as a path: its steps in the order of execution, with numbers in the
 * margin of their lines. Near steps share an excerpt. A missing step (a flush, a fence) is shown
 * where it belongs. */
#include <inttypes.h>
#include <string.h>

#include "report/html/html.h"
#include "util/str.h"

#define AROUND 3u /* lines before and after a step */
#define APART 8u  /* steps further apart have excerpts of their own */
#define LINE_SHOWN_BYTES 400u
#define STEPS_MAX 20u

struct step {
	const struct bug_frame *frame; /* the line that is shown */
	/* the frame that does it, if the shown line calls a function of another file for it; NULL:
	 * the shown line does it itself */
	const struct bug_frame *inside;
	const char *role;
	const char *missing; /* what should follow this step, such as a flush */
	uint64_t seq;        /* number of the event; UINT64_MAX: unknown */
	unsigned number;
};

struct steps {
	struct step at[STEPS_MAX];
	size_t n;
};

/* Finds the event of a location by its role and line; UINT64_MAX if the timeline does not have
 * it. */
static uint64_t seq_of(const struct bug *b, const struct bug_frame *frame, const char *role)
{
	const struct evidence *e = b->evidence;

	for (size_t i = 0; e && i < e->nevents; i++)
		if (e->events[i].role && role && strcmp(e->events[i].role, role) == 0 &&
		    e->events[i].line == frame->line &&
		    str_same_known(e->events[i].file, frame->file))
			return e->events[i].seq;
	return UINT64_MAX;
}

static bool is_role(const struct bug_location *l, const char *role)
{
	return l->role && strcmp(l->role, role) == 0;
}

/* Says what the program should have done after (or before) location i, by the kind of bug and the
 * role of the location. */
static const char *missing_of(const struct bug *b, size_t i)
{
	const struct bug_location *l = &b->locations[i],
				  *next = i + 1 < b->nlocations ? &b->locations[i + 1] : NULL;

	if (strcmp(b->kind, "missing-flush-fence") == 0 && i == 0)
		return "missing: flush and fence";
	if (strcmp(b->kind, "missing-flush") == 0 && i == 0)
		return "missing: flush";
	if (strcmp(b->kind, "missing-fence") == 0 && (is_role(l, "flush") || b->nlocations == 1))
		return "missing: fence";
	if (strcmp(b->kind, "tx-missing-add") == 0 && i == 0)
		return "missing before this: TX_ADD";
	if (strcmp(b->kind, "ordering") != 0)
		return NULL;
	if (is_role(l, "flush"))
		return "missing: fence before the next store";
	if (is_role(l, "fence"))
		return b->crash && b->crash->is_flushed_late ? "late: flush"
							     : "missing before this: flush";
	if (!is_role(l, "lost") || (next && (is_role(next, "flush") || is_role(next, "fence"))))
		return NULL;
	return i == 0 && b->crash && b->crash->is_flushed_late ? "late: flush and fence"
							       : "missing: flush and fence";
}

static void add_step(struct steps *s, const struct bug_frame *frame, const char *role,
		     const char *missing, uint64_t seq)
{
	size_t i = s->n;

	if (!frame || !frame->file || !frame->line || frame->line > INT32_MAX || s->n == STEPS_MAX)
		return;
	/* keep the order of execution; a step without event number stays where it was added */
	while (seq != UINT64_MAX && i > 0 && s->at[i - 1].seq != UINT64_MAX &&
	       s->at[i - 1].seq > seq)
		i--;
	memmove(&s->at[i + 1], &s->at[i], (s->n - i) * sizeof *s->at);
	s->at[i] = (struct step){ .frame = frame, .role = role, .missing = missing, .seq = seq };
	s->n++;
}

/* Gives the frame to show for a location. If it is in another file than the bug (a flush function,
 * a wrapper of a store), its caller in the bug's file tells more. */
static const struct bug_frame *caller_of(const struct bug *b, const struct bug_location *l)
{
	const struct bug_frame *own = bug_location_frame(l), *main_frame = bug_frame(b);

	if (!own || !main_frame || !main_frame->file || str_same_known(own->file, main_frame->file))
		return own;
	for (const struct bug_frame *f = own; f < l->frames + l->nframes; f++)
		if (str_same_known(f->file, main_frame->file))
			return f;
	return own;
}

static void add_location(struct steps *s, const struct bug *b, size_t i)
{
	const struct bug_location *l = &b->locations[i];
	const struct bug_frame *own = bug_location_frame(l), *shown = caller_of(b, l);
	size_t n = s->n;

	if (!own)
		return;
	for (size_t k = 0; k < s->n; k++) /* several lost stores share a flush */
		if (s->at[k].frame->line == shown->line &&
		    str_same_known(s->at[k].frame->file, shown->file) && s->at[k].role &&
		    is_role(l, s->at[k].role))
			return;
	add_step(s, shown, l->role, missing_of(b, i), seq_of(b, own, l->role));
	for (size_t k = 0; s->n > n && k < s->n; k++)
		if (s->at[k].frame == shown)
			s->at[k].inside = shown != own ? own : NULL;
}

/* Gives the innermost frame of recovery that has a source line. */
static const struct bug_frame *reader_of(const struct bug_crash *c)
{
	for (size_t i = 0; c && i < c->nframes; i++)
		if (c->frames[i].file && c->frames[i].line &&
		    !strstr(c->frames[i].file, "/sysdeps/"))
			return &c->frames[i];
	return NULL;
}

/* Gives the frame of the first read of recovery that returned something other than the newest
 * value, since a store was lost. */
static const struct bug_frame *loss_reader(const struct bug_crash *c)
{
	for (size_t i = 0; c && i < c->nchoices; i++)
		if (c->choices[i].nvalues && !c->choices[i].values[0].is_taken)
			return &c->choices[i].read;
	return NULL;
}

static void collect(struct steps *s, const struct bug *b)
{
	size_t nreads = 0;

	for (size_t i = 0; i < b->nlocations; i++)
		if (!is_role(&b->locations[i], "read"))
			add_location(s, b, i);
	/* recovery comes after all that the program did */
	for (size_t i = 0; i < b->nlocations; i++)
		if (is_role(&b->locations[i], "read") && ++nreads)
			add_step(s, bug_location_frame(&b->locations[i]), "read", NULL, UINT64_MAX);
	if (nreads == 0)
		add_step(s, loss_reader(b->crash), "reads-loss", NULL, UINT64_MAX);
	add_step(s, reader_of(b->crash), "recovery", NULL, UINT64_MAX);
	for (size_t i = 0; i < s->n; i++)
		s->at[i].number = (unsigned)i + 1;
}

static void put_step(const struct page *p, const struct step *s)
{
	fprintf(p->f, "<span class=\"at %s\">%u ", role_class(s->role), s->number);
	put_cut(p, role_text(s->role), NAME_SHOWN_BYTES);
	if (s->missing)
		fprintf(p->f, " <b>%s</b>", s->missing);
	if (s->inside) {
		fputs(" <span class=\"fn\">in ", p->f);
		put_cut(p, s->inside->function ? s->inside->function : "??", NAME_SHOWN_BYTES);
		fputs(", ", p->f);
		put_cut(p, path_base(s->inside->file), NAME_SHOWN_BYTES);
		fprintf(p->f, ":%" PRIu32 "</span>", s->inside->line);
	}
	fputs("</span>", p->f);
}

/* Writes one line of an excerpt: the numbers of its steps, the line number, the code, and what
 * happens there. */
static void put_line(const struct page *p, const struct steps *s, const char *file, uint32_t n,
		     const char *text, size_t len, bool *is_comment)
{
	const struct step *first = NULL;

	for (size_t i = 0; i < s->n; i++)
		if (!first && s->at[i].frame->line == n &&
		    str_same_known(s->at[i].frame->file, file))
			first = &s->at[i];
	if (first)
		fprintf(p->f, "<span class=\"hit %s\">", role_class(first->role));
	fputs("<span class=\"m\">", p->f);
	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].frame->line == n && str_same_known(s->at[i].frame->file, file))
			fprintf(p->f, "<b class=\"%s\">%u</b>", role_class(s->at[i].role),
				s->at[i].number);
	fprintf(p->f, "</span><span class=\"l\">%" PRIu32 "</span>", n);
	put_code(p, text, len < LINE_SHOWN_BYTES ? len : LINE_SHOWN_BYTES, is_comment);
	if (len > LINE_SHOWN_BYTES)
		fputs("<span class=\"cut\">…</span>", p->f);
	for (size_t i = 0; i < s->n; i++)
		if (s->at[i].frame->line == n && str_same_known(s->at[i].frame->file, file))
			put_step(p, &s->at[i]);
	fputs(first ? "\n</span>" : "\n", p->f);
}

static void put_lines_of(const struct page *p, const struct steps *s, const char *file,
			 uint32_t first, uint32_t last)
{
	bool is_comment = false;
	const char *line;
	size_t len;

	for (uint32_t n = first; n <= last; n++) {
		line = source_line(p->sources, file, n, &len);
		if (!line)
			break;
		put_line(p, s, file, n, line, len, &is_comment);
	}
}

/* Writes the line that the report has kept, as the source file cannot be read. */
static void put_remembered(const struct page *p, const struct steps *s, const struct step *only)
{
	bool is_comment = false;
	const char *text =
		only->frame->text ? only->frame->text : "(the source file cannot be read)";

	put_line(p, s, only->frame->file, only->frame->line, text, strlen(text), &is_comment);
}

/* Writes the lines of one file that steps need, beginning with step `from`, the first that was not
 * shown yet. */
static void put_excerpt(const struct page *p, const struct steps *s, size_t from, bool *is_shown)
{
	const struct bug_frame *frame = s->at[from].frame;
	uint32_t first = frame->line, last = frame->line;
	bool grows = true;
	size_t len;

	while (grows) {
		grows = false;
		for (size_t i = 0; i < s->n; i++) {
			uint32_t line = s->at[i].frame->line;

			if (is_shown[i] || !str_same_known(s->at[i].frame->file, frame->file) ||
			    line + APART < first || line > last + APART)
				continue;
			first = line < first ? line : first;
			last = line > last ? line : last;
			is_shown[i] = grows = true;
		}
	}
	fputs("<figure class=\"code\"><figcaption>", p->f);
	put_path(p, frame->file);
	if (frame->function) {
		fputs(" <span class=\"fn\">", p->f);
		put_cut(p, frame->function, NAME_SHOWN_BYTES);
		fputs("</span>", p->f);
	}
	fputs("</figcaption><pre tabindex=\"0\">", p->f);
	if (source_line(p->sources, frame->file, frame->line, &len)) {
		put_lines_of(p, s, frame->file, first > AROUND ? first - AROUND : 1, last + AROUND);
	} else {
		uint32_t before = 0;

		for (uint32_t n = first; n <= last; n++)
			for (size_t i = 0; i < s->n; i++)
				if (s->at[i].frame->line == n &&
				    str_same_known(s->at[i].frame->file, frame->file) &&
				    before != n) {
					before = n;
					put_remembered(p, s, &s->at[i]);
				}
	}
	fputs("</pre></figure>\n", p->f);
}

void put_source(const struct page *p, const struct bug *b)
{
	bool is_shown[STEPS_MAX] = { false };
	struct steps s = { 0 };

	collect(&s, b);
	if (s.n == 0)
		return;
	fputs("<h3>Source</h3>\n", p->f);
	for (size_t i = 0; i < s.n; i++)
		if (!is_shown[i])
			put_excerpt(p, &s, i, is_shown);
}
