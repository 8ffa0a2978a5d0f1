/* Names the reads of recovery that had a choice: the line that reads, and the lines of the stores
 * that a crash must lose for each value. */
#include "account/choices.h"

#include "account/recovery_symbols.h"
#include "trace/owner.h"

/* Gives the frame to show for a read of recovery: the innermost one outside libraries, or else the
 * innermost. */
static struct bug_frame reader_of(const struct crash_account *t, const struct crash_choice *c)
{
	struct bug_frame shown = { 0 };
	VEC(struct frame) list = { 0 };

	for (size_t i = 0; i < c->stack.n && !locate_has_shown(t->locator, list.at, list.n); i++) {
		const struct symbol *symbols;
		const size_t n = recovery_symbols(t->result, c->part, t->symbols, c->stack.at[i],
						  i > 0, &symbols);

		for (size_t k = 0; k < n; k++)
			if (!symbols[k].object || owner_of_object(symbols[k].object) != OWNER_PMEND)
				*vec_add(&list) = (struct frame){ .symbol = &symbols[k],
								  .pc = c->stack.at[i] };
	}
	if (list.n > 0)
		shown = bug_frame_of(list.at[locate_shown(t->locator, list.at, list.n)].symbol);
	vec_release(&list);
	return shown;
}

static void values_tell(const struct crash_account *t, const struct crash_choice *c,
			struct arena *a, struct bug_choice *out)
{
	struct bug_value *values = arena_alloc(a, (c->values.n + 1) * sizeof *values);

	for (size_t i = 0; i < c->values.n; i++) {
		const struct choice_value *v = &c->values.at[i];
		struct bug_frame *lost = arena_alloc(a, (v->lost.n + 1) * sizeof *lost);

		values[i] = (struct bug_value){ .bytes = v->bytes,
						.is_taken = v->is_taken,
						.lost = lost };
		for (size_t k = 0; k < v->lost.n; k++) {
			const uint32_t site = v->lost.at[k].site;
			const struct frame *f =
				site < t->plan->sites.n && t->plan->sites.at[site]
					? locate(t->locator, t->plan->sites.at[site])
					: NULL;

			if (f)
				lost[values[i].nlost++] = bug_frame_of(f->symbol);
		}
	}
	out->values = values;
	out->nvalues = c->values.n;
	out->nall = c->nvalues;
}

void choices_tell(const struct crash_account *t, const struct crash_bug *from, struct arena *a,
		  struct bug_crash *out)
{
	static const char *const names[PART_N] = { "recover", "then", "check", "dump" };
	struct bug_choice *choices = arena_alloc(a, (from->choices.n + 1) * sizeof *choices);

	for (size_t i = 0; i < from->choices.n; i++) {
		const struct crash_choice *c = &from->choices.at[i];
		const struct trace_file *f = trace_file(t->plan->trace, PMT_FILE(c->addr));

		/* a recovery that crashed itself ran on scratch files, which are not named */
		choices[i] = (struct bug_choice){ .read = reader_of(t, c),
						  .by = names[c->part],
						  .file = f && t->is_first ? f->path : NULL,
						  .offset = PMT_OFFSET(c->addr),
						  .size_bytes = c->len_bytes };
		values_tell(t, c, a, &choices[i]);
	}
	out->choices = choices;
	out->nchoices = from->choices.n;
	out->nchoices_all = from->nchoices;
}
