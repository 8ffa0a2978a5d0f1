/* Follows a function on all paths at once. A state (struct flow_state) says what is known at one
 * place. It is copied at branches and joined behind them; loops are repeated until the state does
 * not change any more. Backward gotos are not followed. */
#include "repair/effects/flow.h"

#include <string.h>

#include "repair/effects/internal.h"

enum { ROUNDS_MAX = 6 };

/* ---- conditions known to hold ---- */

static bool is_guard(const struct flow_frame *f, const struct source_node *test)
{
	const char *text = text_of(f->flow->r->code, f->file, test);

	for (const struct source_node *n = test; n && f->depth > 0; n = node_next(n, test))
		if (n->kind == SOURCE_NAME && n->is_local)
			return false; /* a variable of another function */
	for (size_t i = 0; i < f->flow->nguards; i++)
		if (strcmp(f->flow->guards[i], text) == 0)
			return strcmp(f->file->path, f->flow->target_file) == 0 || f->depth > 0;
	return false;
}

static void execute(struct flow_frame *f, struct flow_state *s, const struct source_node *n);

bool flow_names_directives(const struct flow *flow, const struct file *f, uint32_t from,
			   uint32_t to)
{
	for (uint32_t at = text_line_begin(f, from); at < to; at = text_line_end(f, at) + 1) {
		uint32_t end = text_line_end(f, at), p = at;
		const char *line;
		bool is_known = false;

		while (p < end && strchr(" \t", f->text[p]))
			p++;
		if (p >= end || f->text[p] != '#' || p < from)
			continue;
		line = text_copy(flow->r->code, f->text + p, end - p);
		if (strncmp(line, "#endif", 6) == 0)
			continue;
		for (size_t i = 0; i < flow->ndirectives; i++)
			is_known |= strcmp(flow->directives[i], line) == 0;
		if (!is_known && (strncmp(line, "#if", 3) == 0 || strncmp(line, "#el", 3) == 0))
			return false;
	}
	return true;
}

/* ---- branches ---- */

/* Notes what a condition says about pointers: one that is not NULL points to memory. */
static void assume(struct flow_frame *f, struct flow_state *s, const struct source_node *test,
		   bool holds)
{
	const struct source_node *n = flow_strip(test), *a = n->child, *b = n->last;
	struct flow_counters now;
	struct value v;

	if (!f->flow->observe || s->is_dead)
		return;
	if (n->kind == SOURCE_UNARY && n->op[0] == '!' && a) {
		assume(f, s, a, !holds);
	} else if (n->kind == SOURCE_BINARY && a && a != b &&
		   strcmp(n->op, holds ? "&&" : "||") == 0) {
		assume(f, s, a, holds);
		assume(f, s, b, holds);
	} else if (n->kind == SOURCE_BINARY && a && a != b &&
		   strcmp(n->op, holds ? "!=" : "==") == 0) {
		assume(f, s, a, true);
		assume(f, s, b, true);
	} else if (holds && strchr(n->type ? n->type : "", '*') &&
		   (n->kind == SOURCE_NAME || n->kind == SOURCE_MEMBER ||
		    n->kind == SOURCE_SUBSCRIPT || n->kind == SOURCE_UNARY)) {
		now = flow_aside(f->flow);
		v = flow_evaluate(f, s, n);
		flow_back(f->flow, &now);
		state_reach(f->flow, s, &v);
	}
}

static void branch(struct flow_frame *f, struct flow_state *s, const struct source_node *n)
{
	const struct source_node *test = n->child, *then, *otherwise;
	struct flow_state *other;

	/* C++ may declare a variable before the condition */
	while (test && test->next && !node_is_body(f->file, test->next)) {
		execute(f, s, test);
		test = test->next;
	}
	then = test ? test->next : NULL;
	otherwise = then ? then->next : NULL;
	if (test)
		flow_evaluate(f, s, test);
	if (!then)
		return;
	if (test && is_guard(f, test)) {
		execute(f, s, then);
		return;
	}
	other = state_copy(s);
	if (test) {
		assume(f, s, test, true);
		assume(f, other, test, false);
	}
	execute(f, s, then);
	if (otherwise)
		execute(f, other, otherwise);
	state_join(f->flow, s, other);
	free(other);
}

/* ---- loops ---- */

/* Forgets the values of variables that the loop assigns or declares: in the next iteration they may
 * have any value. */
static void forget_assigned(struct flow_frame *f, struct flow_state *s,
			    const struct source_node *loop, const char *mark)
{
	for (const struct source_node *n = loop; n; n = node_next(n, loop)) {
		const struct source_node *to = NULL;
		struct value v;

		if (n->kind == SOURCE_VARIABLE)
			to = n;
		else if ((node_is_assignment(n) ||
			  ((n->kind == SOURCE_BINARY || n->kind == SOURCE_UNARY) &&
			   (!n->op[0] || n->op[0] == '&'))) &&
			 n->child)
			to = flow_strip(n->child);
		if (!to || !to->name || (to->kind == SOURCE_NAME && !to->is_local) ||
		    (to->kind != SOURCE_NAME && to->kind != SOURCE_VARIABLE) || to->is_array)
			continue;
		v = (struct value){ .is_known = true, .align_bytes = to->target_align_bytes };
		v.root = text_format(f->flow->r->code, "%s%s", to->name, mark);
		state_set(f->flow, s, f->id, to->name, v);
	}
}

static void header(struct flow_frame *f, struct flow_state *s, const struct source_node *loop)
{
	if (loop->kind == SOURCE_DO)
		flow_evaluate(f, s, loop->last);
	for (const struct source_node *c = loop->child;
	     loop->kind != SOURCE_DO && c && c != loop->last; c = c->next)
		execute(f, s, c);
}

static void loop(struct flow_frame *f, struct flow_state *s, const struct source_node *n)
{
	struct flow_state *broken = f->broken, *continued = f->continued, *entered = f->entered,
			  *round = NULL, *behind = state_new();
	const struct source_node *body = n->kind == SOURCE_DO ? n->child : n->last;
	const char *mark = text_format(f->flow->r->code, "%c%u:%u", FLOW_LOOP, f->id, n->begin);
	struct flow_state *outside = state_copy(s);
	const struct flow then = *f->flow;
	unsigned i;

	f->broken = behind;
	f->entered = NULL;
	forget_assigned(f, s, n, mark);
	for (i = 0; i < ROUNDS_MAX && !f->flow->why; i++) {
		struct flow_state *before = state_copy(s);

		free(round);
		round = state_copy(s);
		f->continued = state_new();
		if (n->kind != SOURCE_DO) {
			header(f, round, n);
			state_join(f->flow, behind, round);
			forget_assigned(f, round, n, mark);
			for (const struct source_node *c = n->child; c && c != n->last; c = c->next)
				assume(f, round, c, true);
		}
		execute(f, round, body);
		state_join(f->flow, round, f->continued);
		free(f->continued);
		if (n->kind == SOURCE_DO) {
			header(f, round, n);
			state_join(f->flow, behind, round);
		}
		state_leave_round(f->flow, round, before, &then, mark);
		forget_assigned(f, round, n, mark);
		state_join(f->flow, s, round);
		forget_assigned(f, s, n, mark);
		if (state_is_same(before, s)) {
			free(before);
			break;
		}
		free(before);
	}
	if (i == ROUNDS_MAX)
		f->flow->why = "a loop before it cannot be followed";
	state_leave_round(f->flow, behind, outside, &then, mark);
	*s = *behind;
	free(outside);
	free(round);
	free(behind);
	f->broken = broken;
	f->continued = continued;
	f->entered = entered;
}

static bool has_default(const struct flow_frame *f, const struct source_node *body)
{
	for (const struct source_node *n = body; n; n = node_next(n, body)) {
		const struct source_node *p = n->parent;

		while (p != body && p && p->kind != SOURCE_SWITCH)
			p = p->parent;
		if (n->kind == SOURCE_LABEL && p == body &&
		    strncmp(f->file->text + n->begin, "default", 7) == 0)
			return true;
	}
	return false;
}

static void choice(struct flow_frame *f, struct flow_state *s, const struct source_node *n)
{
	struct flow_state *broken = f->broken, *entered = f->entered, *behind = state_new();

	flow_evaluate(f, s, n->child);
	f->broken = behind;
	f->entered = state_copy(s);
	execute(f, s, n->last);
	state_join(f->flow, s, behind);
	if (!has_default(f, n->last))
		state_join(f->flow, s, f->entered);
	free(f->entered);
	free(behind);
	f->broken = broken;
	f->entered = entered;
}

/* ---- objects that flush in their destructor ---- */

/* Executes the destructors of objects declared after the first n, last one first. */
static void end_scopes(const struct flow_frame *f, struct flow_state *s, size_t n)
{
	for (size_t i = f->nscopes; i-- > n && !s->is_dead;) {
		if (f->scopes[i].does & DOES_FLUSH) {
			flow_tell(f, FLOW_FLUSH, s, f->scopes[i].range.node, &f->scopes[i].range);
			state_flush(f->flow, s, &f->scopes[i].range);
		}
		if (f->scopes[i].does & DOES_FENCE)
			state_fence(s);
	}
}

static void begin_scope(struct flow_frame *f, struct flow_state *s,
			const struct source_node *declaration)
{
	struct idiom_effect e;

	if (!idiom_scope_effect(f->flow->r, f->unit, f->file, declaration, &e))
		return;
	if (f->nscopes == FLOW_SCOPES)
		f->flow->why = "the functions around it are too long to be followed";
	else
		f->scopes[f->nscopes++] = flow_scope(f, s, declaration, &e);
}

static void block(struct flow_frame *f, struct flow_state *s, const struct source_node *n)
{
	size_t nscopes = f->nscopes;

	for (const struct source_node *c = n->child; c; c = c->next)
		execute(f, s, c);
	end_scopes(f, s, nscopes);
	f->nscopes = nscopes;
}

/* ---- jumps ---- */

static const char *word_at(const struct flow_frame *f, uint32_t at)
{
	uint32_t end = at = text_skip_blanks(f->file, at);

	while (end < f->file->len_bytes &&
	       (f->file->text[end] == '_' ||
		strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
		       f->file->text[end])))
		end++;
	return text_copy(f->flow->r->code, f->file->text + at, end - at);
}

static void jump(struct flow_frame *f, struct flow_state *s, const struct source_node *n)
{
	char c = f->file->text[n->begin];

	/* it is not checked which objects end here; any of them may leave something to fence */
	s->may_wait |= f->nscopes > 0;
	if (c == 'b' && f->broken) {
		state_join(f->flow, f->broken, s);
	} else if (c == 'c' && f->continued) {
		state_join(f->flow, f->continued, s);
	} else if (c == 'g' && f->ngotos < FLOW_GOTOS) {
		f->gotos[f->ngotos].label = word_at(f, n->begin + 4);
		f->gotos[f->ngotos++].state = state_copy(s);
	} else {
		f->flow->why = "a jump before it cannot be followed";
	}
	s->is_dead = true;
}

static bool is_reached_from_behind(const struct flow_frame *f, const struct source_node *label,
				   const char *name)
{
	for (const struct source_node *n = f->function->body; n;
	     n = node_next(n, f->function->body))
		if (n->kind == SOURCE_JUMP && n->begin > label->begin &&
		    f->file->text[n->begin] == 'g' && strcmp(word_at(f, n->begin + 4), name) == 0)
			return true;
	return false;
}

static void label(struct flow_frame *f, struct flow_state *s, const struct source_node *n)
{
	const char *word = word_at(f, n->begin);

	if (strcmp(word, "case") == 0 || strcmp(word, "default") == 0) {
		if (f->entered)
			state_join(f->flow, s, f->entered);
	} else if (is_reached_from_behind(f, n, word)) {
		f->flow->why = "a jump backwards cannot be followed";
	}
	for (size_t i = 0; i < f->ngotos; i++)
		if (strcmp(f->gotos[i].label, word) == 0)
			state_join(f->flow, s, f->gotos[i].state);
	if (n->last)
		execute(f, s, n->last);
}

/* ---- statements ---- */

static void assembly(struct flow_frame *f, struct flow_state *s, const struct source_node *n)
{
	const char *template;
	unsigned does;

	if (!idiom_asm(f->unit, n, &does, &template)) {
		state_store_anywhere(f->flow, s, f, n);
		return;
	}
	for (const struct source_node *c = n->child; c && does & DOES_FLUSH; c = c->next) {
		const struct source_node *operand = flow_strip(c);
		bool is_lvalue = operand->kind == SOURCE_UNARY || operand->kind == SOURCE_MEMBER ||
				 operand->kind == SOURCE_SUBSCRIPT;
		struct span line = flow_span(
			f, is_lvalue ? flow_address(f, s, operand) : flow_evaluate(f, s, operand),
			value_number(1), operand, n);

		flow_tell(f, FLOW_FLUSH, s, n, &line);
		state_flush(f->flow, s, &line);
	}
	if (does & DOES_FENCE) {
		flow_tell(f, FLOW_FENCE, s, n, NULL);
		state_fence(s);
	}
}

static void declare(struct flow_frame *f, struct flow_state *s, const struct source_node *n)
{
	for (const struct source_node *v = n->child; v; v = v->next)
		if (v->kind == SOURCE_VARIABLE && v->name) {
			bool is_bound = f->flow->observe && v->is_reference;
			struct value value = !v->last || v->is_array
						     ? value_fresh(f->flow, v->name, v)
					     : is_bound ? flow_address(f, s, v->last)
							: flow_evaluate(f, s, v->last);

			if (is_bound)
				state_reach(f->flow, s, &value);
			state_set(f->flow, s, f->id, v->name,
				  value.is_known ? value : value_fresh(f->flow, v->name, v));
		}
	if (f->unit->is_cplusplus)
		begin_scope(f, s, n);
}

static void execute(struct flow_frame *f, struct flow_state *s, const struct source_node *n)
{
	if (++f->flow->nsteps > FLOW_STEPS)
		f->flow->why = "the functions around it are too long to be followed";
	if (f->flow->why || (s->is_dead && n->kind != SOURCE_LABEL && n->kind != SOURCE_COMPOUND))
		return;
	if (!f->flow->naside && is_only_here(f, n)) {
		struct flow_counters now = flow_aside(f->flow);

		execute(f, s, n);
		flow_back(f->flow, &now);
		return;
	}
	if ((n->kind == SOURCE_DO || n->kind == SOURCE_ASM || n->kind == SOURCE_COMPOUND ||
	     n->kind == SOURCE_FOR) &&
	    !s->is_dead && flow_effect(f, s, n))
		return; /* a use of a macro that flushes or fences */
	switch (n->kind) {
	case SOURCE_COMPOUND: block(f, s, n); break;
	case SOURCE_LABEL: label(f, s, n); break;
	case SOURCE_IF: branch(f, s, n); break;
	case SOURCE_FOR:
	case SOURCE_WHILE:
	case SOURCE_DO: loop(f, s, n); break;
	case SOURCE_SWITCH: choice(f, s, n); break;
	case SOURCE_RETURN:
		f->result = n->child ? flow_evaluate(f, s, n->child) : value_unknown;
		f->nreturns++;
		end_scopes(f, s, 0);
		flow_tell(f, FLOW_RETURN, s, n, NULL);
		state_join(f->flow, f->returned, s);
		s->is_dead = true;
		break;
	case SOURCE_JUMP: jump(f, s, n); break;
	case SOURCE_DECL: declare(f, s, n); break;
	case SOURCE_VARIABLE: break;
	case SOURCE_ASM: assembly(f, s, n); break;
	case SOURCE_STMT: /* `try` and other statements of C++ */
		for (const struct source_node *c = n->child; c; c = c->next)
			execute(f, s, c);
		break;
	default: flow_evaluate(f, s, n); break;
	}
}

static void follow_body(struct flow_frame *f, struct flow_state *s)
{
	const struct source_function *fn = f->function;

	f->returned = state_new();
	/* it is compiled in more than one way */
	if (f->outer && !flow_names_directives(f->flow, f->file, fn->body->begin, fn->body->end))
		state_store_anywhere(f->flow, s, f, fn->body);
	execute(f, s, fn->body);
	flow_tell(f, FLOW_RETURN, s, fn->body, NULL);
	state_join(f->flow, s, f->returned);
	for (size_t i = 0; i < f->ngotos; i++)
		free(f->gotos[i].state);
	free(f->returned);
}

static const struct flow_steps steps = { flow_call, execute, follow_body };

void flow_run(struct flow *flow, const struct source_unit *u, const struct source_function *top)
{
	struct flow_frame f = { .flow = flow,
				.unit = u,
				.file = file_open(flow->r->code, top->file),
				.function = top,
				.id = flow->nframes++ };
	struct flow_state *s = state_new();

	flow->steps = &steps;
	s->is_dead = false;
	s->may_wait = s->may_store = true; /* unknown: what the caller did before */
	f.this = (struct value){ .is_known = true, .root = "this#0" };
	if (f.file && top->body)
		follow_body(&f, s);
	else
		flow->why = "its source cannot be read";
	free(s);
}
