/* Passes findings between a worker and its parent, field by field; the same list of fields serves
 * both sides. A bug's kind is a constant, so its number is sent. */
#include <string.h>

#include "crash/findings/findings.h"

static void store_pass(struct wire *m, struct crash_store *s)
{
	wire_pass(m, s->seq);
	wire_pass(m, s->site);
}

static void kind_pass(struct wire *m, const char **kind)
{
	static const char *const kinds[] = { "recovery-failure", "ordering", "atomicity",
					     "missing-flush",    "porting",  "recovery-output" };
	uint64_t number = 0;

	for (size_t i = 0; *kind && i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(*kind, kinds[i]) == 0)
			number = i;
	wire_pass(m, number);
	*kind = kinds[number < sizeof kinds / sizeof *kinds ? number : 0];
}

static void value_pass(struct wire *m, struct choice_value *v)
{
	v->bytes = wire_string(m, v->bytes);
	wire_pass(m, v->is_taken);
	wire_pass_vec(m, &v->lost, store_pass);
}

static void choice_pass(struct wire *m, struct crash_choice *c)
{
	wire_pass(m, c->addr);
	wire_pass(m, c->len_bytes);
	wire_pass(m, c->part);
	if (c->part >= PART_N)
		c->part = PART_RECOVER;
	wire_pass_vec(m, &c->stack, wire_pass_number);
	wire_pass_vec(m, &c->values, value_pass);
	wire_pass(m, c->nvalues);
}

static void text_pass(struct wire *m, char **text)
{
	*text = wire_string(m, *text);
	m->is_bad |= !*text;
}

void bug_endings_pass(struct wire *m, struct crash_bug *b)
{
	wire_pass_vec(m, &b->endings, text_pass);
}

void bug_pass(struct wire *m, struct crash_bug *b)
{
	kind_pass(m, &b->kind);
	wire_pass_vec(m, &b->lost, store_pass);
	wire_pass_vec(m, &b->survived, store_pass);
	wire_pass(m, b->is_survivor_guessed);
	wire_pass(m, b->is_clean);
	store_pass(m, &b->allocation);
	wire_pass(m, b->count);
	wire_pass(m, b->is_in_line);
	wire_pass(m, b->torn);
	if (b->torn > CRASH_TORN_LONG)
		b->torn = CRASH_NOT_TORN;
	store_pass(m, &b->acknowledged);
	wire_pass(m, b->at_site);
	wire_pass(m, b->point);
	wire_pass(m, b->last_point);
	wire_pass(m, b->seq);
	wire_pass(m, b->runs);
	b->outcome = wire_string(m, b->outcome);
	b->command = wire_string(m, b->command);
	wire_pass(m, b->part);
	if (b->part >= PART_N)
		b->part = PART_RECOVER;
	b->output = wire_string(m, b->output);
	b->found = wire_string(m, b->found);
	wire_pass_vec(m, &b->allowed, wire_pass_number);
	b->undecided_by = wire_string(m, b->undecided_by);
	b->why_undecided = wire_string(m, b->why_undecided);
	b->state = wire_string(m, b->state);
	wire_pass(m, b->signal);
	wire_pass_vec(m, &b->stack, wire_pass_number);
	wire_pass_vec(m, &b->choices, choice_pass);
	wire_pass(m, b->nchoices);
	wire_pass(m, b->varies);
	bug_endings_pass(m, b);
}

void race_pass(struct wire *m, struct race *r)
{
	wire_pass(m, r->part);
	if (r->part >= PART_N)
		r->part = PART_RECOVER;
	wire_pass(m, r->pc);
	store_pass(m, &r->store);
	wire_pass(m, r->kind);
	for (int i = 0; i < 2; i++)
		store_pass(m, &r->commits[i]);
	wire_pass(m, r->is_ranged);
	wire_pass(m, r->is_certain);
	wire_pass(m, r->is_porting);
	wire_pass(m, r->state);
	wire_pass(m, r->point);
	wire_pass(m, r->seq);
	wire_pass(m, r->count);
	wire_pass(m, r->addr);
	wire_pass(m, r->len_bytes);
	r->values = wire_string(m, r->values);
	r->outcome = wire_string(m, r->outcome);
	wire_pass_vec(m, &r->stack, wire_pass_number);
}

void first_crash_pass(struct wire *m, struct first_crash *f)
{
	wire_pass(m, f->signature);
	wire_pass(m, f->is_oldest);
	wire_pass(m, f->point);
	wire_pass(m, f->seq);
	wire_pass(m, f->operation);
	f->state = wire_string(m, f->state);
	wire_pass_vec(m, &f->allowed, wire_pass_number);
}

static void race_entry_pass(struct wire *m, struct race_entry *e)
{
	wire_pass(m, e->pc);
	wire_pass(m, e->part);
	wire_pass(m, e->site);
	wire_pass(m, e->kind);
	wire_pass(m, e->state);
	wire_pass(m, e->tries);
	wire_pass(m, e->is_closed);
	wire_pass(m, e->is_doubted);
	wire_pass(m, e->nselected);
	wire_pass(m, e->nrefuted);
}

static void change_pass(struct wire *m, struct race_change *c)
{
	race_entry_pass(m, &c->before);
	race_entry_pass(m, &c->after);
}

void race_turn_pass(struct wire *m, struct race_turn *t)
{
	wire_pass(m, t->round);
	wire_pass(m, t->point);
	wire_pass(m, t->is_question);
	wire_pass_vec(m, &t->changes, change_pass);
}
