/* Reports what representative testing looked at: for the coverage of a report, and for people
 * (--explain-groups). */
#include "account/group_report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "source/locate.h"
#include "util/str.h"

#define LIST_MAX 200u /* groups in a report */
#define PLACES_MAX 6u /* places per group in a report; --explain-groups shows all */

/* ---- texts ---- */

/* A text that is being written to memory; free() it. */
struct writing {
	FILE *f;
	char *text;
	size_t len_bytes;
};

static void writing_begin(struct writing *w)
{
	*w = (struct writing){ 0 };
	w->f = open_memstream(&w->text, &w->len_bytes);
	if (!w->f)
		alloc_die();
}

static char *writing_end(struct writing *w)
{
	fclose(w->f);
	return w->text;
}

static void put_fields(FILE *f, const struct representatives *r, const struct shape *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const char *name = types_name(r->types, s->fields[i]);

		fprintf(f, "%s%s", i ? ", " : "", *name ? name : "(all)");
	}
}

/* Writes the place of a site, for example "insert (table.c:41)". */
static void put_place(FILE *f, struct locator *l, const struct trace_site *site)
{
	const struct frame *shown = site ? locate(l, site) : NULL;
	const struct symbol *s = shown ? shown->symbol : NULL;

	if (s && s->file && s->line)
		fprintf(f, "%s (%s:%u)", s->function ? s->function : "?", str_base_name(s->file),
			s->line);
	else if (s && s->object)
		fprintf(f, "%s+0x%" PRIx64, str_base_name(s->object), s->offset);
	else
		fputs("?", f);
}

/* Writes the distinct places of a behaviour's stores. Several stores of one line, or several ways
 * to call it, count as one place. */
static void put_places(FILE *f, const struct plan *p, struct locator *l, const struct variant *v,
		       size_t max, const char *sep)
{
	VEC(char *) seen = { 0 };

	for (size_t i = 0; i < v->nsites && seen.n < max; i++) {
		struct writing w;
		char *text;
		size_t k = 0;

		writing_begin(&w);
		put_place(w.f, l, v->sites[i] < p->sites.n ? p->sites.at[v->sites[i]] : NULL);
		text = writing_end(&w);
		while (k < seen.n && strcmp(seen.at[k], text) != 0)
			k++;
		if (k < seen.n) {
			free(text);
			continue;
		}
		fprintf(f, "%s%s", seen.n ? sep : "", text);
		*vec_add(&seen) = text;
	}
	for (size_t i = 0; i < seen.n; i++)
		free(seen.at[i]);
	vec_release(&seen);
}

/* ---- the report's coverage ---- */

static const struct rep_variant *tested(const struct representatives *r, const struct group *g)
{
	return &r->variants.at[representatives_of(r, g) - r->groups.variants.at];
}

static void add_group(struct group_report *out, const struct plan *p, struct locator *l,
		      const struct representatives *r, const struct group *g)
{
	const struct shape *s = &r->groups.kinds.at[g->kind].shape;
	const char *type = types_name(r->types, s->type);
	struct writing fields, places;
	char *a, *b;

	writing_begin(&fields);
	put_fields(fields.f, r, s);
	a = writing_end(&fields);
	writing_begin(&places);
	put_places(places.f, p, l, representatives_of(r, g), PLACES_MAX, ", ");
	b = writing_end(&places);
	*vec_add(&out->list) =
		(struct report_group){ .type = arena_string(&out->arena, type, strlen(type)),
				       .fields = arena_string(&out->arena, a, strlen(a)),
				       .places = arena_string(&out->arena, b, strlen(b)),
				       .nbehaviours = g->count,
				       .is_tested = tested(r, g)->is_tested,
				       .has_failed = tested(r, g)->has_failed };
	free(a);
	free(b);
}

void group_report_init(struct group_report *out, const struct plan *p,
		       const struct crash_result *result, const struct libraries *libraries)
{
	const struct representatives *r = result->representatives;
	struct locator *l = locator_new(p->trace, libraries);
	struct rep_account a;

	*out = (struct group_report){ 0 };
	representatives_account(r, &a);
	for (int is_tested = 0; is_tested < 2; is_tested++)
		for (size_t i = 0; i < r->groups.groups.n && out->list.n < LIST_MAX; i++)
			if (tested(r, &r->groups.groups.at[i])->is_tested == is_tested)
				add_group(out, p, l, r, &r->groups.groups.at[i]);
	out->groups = (struct report_groups){ .by_source = r->nstores[TYPE_BY_SOURCE],
					      .by_dwarf = r->nstores[TYPE_BY_DWARF],
					      .by_path = r->nstores[TYPE_BY_PATH],
					      .behaviours = a.behaviours,
					      .behaviours_tested = a.tested,
					      .behaviours_represented = a.represented,
					      .followed_up = r->nfollowed,
					      .groups = a.groups,
					      .groups_begun = a.groups_begun,
					      .groups_tested = a.groups_tested,
					      .groups_failed = a.groups_failed,
					      .list = out->list.at,
					      .n = out->list.n };
	locator_free(l);
}

void group_report_release(struct group_report *g)
{
	vec_release(&g->list);
	arena_release(&g->arena);
}

/* Gives a sentence which says that groups do not pay, if there are more of them than failure
 * points; else "". Each group takes a run, and so does each failure point with `prefix`. free()
 * it. */
static char *no_gain(const struct crash_result *result, const struct rep_account *a)
{
	if (result->npoints == 0 || a->groups <= result->npoints)
		return xstrdup("");
	return xasprintf(
		". Groups do not pay here, because there are only %llu failure points: --strategy prefix takes fewer runs, and --strategy lazy tests all behaviours at each of them. Groups pay when the program runs longer, because their number hardly grows",
		(unsigned long long)result->npoints);
}

char *group_report_note(const struct crash_result *result)
{
	const struct representatives *r = result->representatives;
	const char *problem = types_problem(r->types);
	char *begun = NULL, *gain, *text;
	struct rep_account a;

	representatives_account(r, &a);
	gain = no_gain(result, &a);
	if (a.groups_begun > a.groups_tested)
		begun = xasprintf(" to the end and %" PRIu64 " more had their first runs",
				  a.groups_begun - a.groups_tested);
	text = xasprintf("%" PRIu64 " update behaviours in %" PRIu64 " groups, of which %" PRIu64
			 " were tested%s; stores typed by source: %" PRIu64
			 ", by debug information: %" PRIu64 ", by call path: %" PRIu64 "%s%s%s%s",
			 a.behaviours, a.groups, a.groups_tested, begun ? begun : "",
			 r->nstores[TYPE_BY_SOURCE], r->nstores[TYPE_BY_DWARF],
			 r->nstores[TYPE_BY_PATH], problem ? " (" : "", problem ? problem : "",
			 problem ? ")" : "", gain);
	free(begun);
	free(gain);
	return text;
}

/* ---- --explain-groups ---- */

static const char *outcome(const struct rep_variant *v)
{
	return v->has_failed  ? "fails"
	       : v->is_tested ? "tested"
	       : v->is_begun  ? "only its first runs"
	       : v->is_chosen ? "not tested to the end"
			      : "not tested";
}

static void explain_variant(FILE *f, const struct plan *p, struct locator *l,
			    const struct representatives *r, uint32_t variant, bool is_first)
{
	const struct variant *v = &r->groups.variants.at[variant];
	const struct rep_variant *state = &r->variants.at[variant];

	fprintf(f, "    %" PRIu64 " at ", v->count);
	put_places(f, p, l, v, SIZE_MAX, ", ");
	if (is_first || state->is_chosen)
		fprintf(f, ": %s, from event %" PRIu64, outcome(state), v->first_seq);
	putc('\n', f);
}

static void explain_group(FILE *f, const struct plan *p, struct locator *l,
			  const struct representatives *r, size_t i)
{
	const struct group *g = &r->groups.groups.at[i];
	const struct shape *s = &r->groups.kinds.at[g->kind].shape;

	fprintf(f, "group %zu: %s: ", i + 1, types_name(r->types, s->type));
	put_fields(f, r, s);
	fprintf(f,
		"\n  %u updates, %" PRIu64 " orderings; %" PRIu64 " behaviours of %zu kinds; %s\n",
		s->n, s->norders, g->count, g->members.n, outcome(tested(r, g)));
	for (size_t k = 0; k < g->members.n; k++) {
		const struct kind *one = &r->groups.kinds.at[g->members.at[k]];

		if (k > 0) {
			fputs("  stands for ", f);
			put_fields(f, r, &one->shape);
			fprintf(f, " (%" PRIu64 " orderings):\n", one->shape.norders);
		}
		for (size_t j = 0; j < one->variants.n; j++)
			explain_variant(f, p, l, r, one->variants.at[j], k == 0 && j == 0);
	}
}

char *group_report_explain(const struct plan *p, const struct crash_result *result,
			   const struct libraries *libraries)
{
	const struct representatives *r = result->representatives;
	struct locator *l = locator_new(p->trace, libraries);
	struct writing w;

	writing_begin(&w);
	for (size_t i = 0; i < r->groups.groups.n; i++)
		explain_group(w.f, p, l, r, i);
	locator_free(l);
	return writing_end(&w);
}
