/* Decides where the sync of a file, or of a folder, goes. The open file must be the same one there,
 * and still open, on every path:
 *
 *   while (n > 0) {                         the descriptor is a parameter, so the sync goes to the
 *           w = write(fd, p, n); …          caller that has it from open() or in an object,
 *   }
 *
 *   if (put(fd, &head) < 0)
 *           goto out;
 *   if (put(fd, &body) < 0)                 behind the last statement that writes to it; what is
 *           goto out;                       passed on the way there does nothing that others see
 *   fsync(fd);                              here
 *   rename(tmp, path);                      what must come later
 *
 * A statement is passed only if all of its calls are known. An `if` that tests such a call, or the
 * variable that holds its value, handles an error; its branch may close the file if it leaves. */
#include <string.h>

#include "repair/files/internal.h"
#include "source/source.h"
#include "util/str.h"

/* ---- the function ---- */

/* Says why no call is found that is given an open file, or a name. */
static const char *no_call(struct repair *r, const struct file_place *s,
			   const struct repair_frame *at, unsigned acts)
{
	static const char *const by_path[] = { "truncate", "truncate64", "open", "openat",
					       "creat",    "fopen",      NULL };

	for (const struct source_node *n = s->at.function->body; n && !(acts & ACT_NAME);
	     n = node_next(n, s->at.function->body))
		for (size_t i = 0;
		     n->kind == SOURCE_CALL && n->line == at->line && n->name && by_path[i]; i++)
			if (strcmp(n->name, by_path[i]) == 0)
				return text_format(
					r->code,
					"%s changes the file by its path, and no open file is known there",
					n->name);
	return text_format(
		r->code,
		"the call that %s is not seen at %s:%u; it may be in a library, a macro or an initialiser",
		acts & ACT_NAME ? "makes or changes the name" : "writes to an open file", at->file,
		at->line);
}

int file_place_begin(struct repair *r, struct file_place *s, const struct repair_place *p,
		     const struct repair_place *later, unsigned acts, const char **why)
{
	*s = (struct file_place){ .place = p, .later = later };
	if (fix_enter_frame(r, &s->at, p, 0, why) < 0)
		return -1;
	s->at.store = file_call_at(&s->at, &p->frames[0], acts);
	s->of = s->at.store ? file_call_of(s->at.unit, s->at.store) : NULL;
	s->handle = s->of ? call_argument(s->at.store, s->of->handle) : NULL;
	if (!s->handle) {
		*why = no_call(r, s, &p->frames[0], acts);
		return -1;
	}
	return 0;
}

static int parameter_of(const struct source_function *f, const struct source_node *handle)
{
	for (size_t i = 0; handle->kind == SOURCE_NAME && handle->name && i < f->nparameters; i++)
		if (f->parameters[i].name && strcmp(f->parameters[i].name, handle->name) == 0)
			return node_assigns(f->body, NULL, handle->name) ? -1 : (int)i;
	return -1;
}

static bool is_same_frame(const struct repair_frame *a, const struct repair_frame *b)
{
	return a->line == b->line && a->column == b->column && str_same(a->file, b->file) &&
	       str_same(a->function, b->function);
}

/* Returns the number of the frame in which the stack of what must come later leaves this one;
 * *there: its frame of the same function. SIZE_MAX: never. */
static size_t common_frame(const struct file_place *s, const struct repair_frame **there)
{
	const struct repair_place *p = s->place, *l = s->later;
	size_t n = 0;

	*there = NULL;
	if (!l)
		return SIZE_MAX;
	while (n < p->nframes && n < l->nframes &&
	       is_same_frame(&p->frames[p->nframes - 1 - n], &l->frames[l->nframes - 1 - n]))
		n++;
	if (n == p->nframes || n == l->nframes)
		return 0;
	*there = &l->frames[l->nframes - 1 - n];
	return p->nframes - 1 - n;
}

static const char *handle_text(struct repair *r, const struct file_place *s,
			       const struct source_node *handle)
{
	return text_of(r->code, s->at.file, handle);
}

static bool is_same_handle(struct repair *r, const struct file_place *s,
			   const struct source_node *other)
{
	return other && strcmp(handle_text(r, s, other), handle_text(r, s, s->handle)) == 0;
}

/* Asks whether the call shows others that something is done: it answers, writes to another file,
 * or changes a name. */
static bool is_publishing(struct repair *r, const struct file_place *s,
			  const struct source_node *call)
{
	const struct file_call *c = file_call_of(s->at.unit, call);

	if (c && c->act & ACT_NAME)
		return strcmp(c->name, "open") != 0 && strcmp(c->name, "fopen") != 0;
	if (c && c->act & ACT_WRITE)
		return !is_same_handle(r, s, call_argument(call, c->handle)) &&
		       (c->act & ACT_CLOSE || call_is_output(call));
	return call_is_output(call);
}

static bool closes(struct repair *r, const struct file_place *s, const struct source_node *top)
{
	for (const struct source_node *n = top; n; n = node_next(n, top)) {
		const struct file_call *c = file_call_of(s->at.unit, n);

		if (c && c->act & ACT_CLOSE && n != s->at.store &&
		    is_same_handle(r, s, call_argument(n, c->handle)))
			return true;
	}
	return false;
}

/* Asks whether the function shows others that it is done, behind the call or in a loop around
 * it. */
static bool publishes_later(struct repair *r, const struct file_place *s)
{
	const struct source_node *body = s->at.function->body, *from = s->at.store;

	for (const struct source_node *n = from; n != body && n->parent; n = n->parent)
		from = source_is_loop(n) ? n : from;
	for (const struct source_node *n = body; n; n = node_next(n, body))
		if (n->kind == SOURCE_CALL && n->begin >= from->begin && n != s->at.store &&
		    is_publishing(r, s, n))
			return true;
	return false;
}

bool file_place_outward(struct repair *r, struct file_place *s)
{
	const struct source_function *f = s->at.function;
	const struct repair_frame *there;
	struct fix outer = s->at;
	const struct source_node *call, *arg;
	const int number = parameter_of(f, s->handle);
	const char *ignored;

	if (number < 0 || s->frame >= common_frame(s, &there) || closes(r, s, f->body) ||
	    publishes_later(r, s))
		return false;
	call = call_of_frame(r, &outer, s->place, s->frame + 1, f->name, &ignored);
	arg = call ? call_argument(call, number) : NULL;
	if (!arg || !node_is_repeatable(outer.unit, arg) ||
	    (r->options->root && !path_is_below(outer.file->path, r->options->root)))
		return false;
	s->at = outer;
	s->at.store = call;
	s->handle = arg;
	s->frame++;
	return true;
}

/* ---- what may be passed ---- */

bool file_is_error_value(const struct file *f, const struct source_node *value)
{
	const struct source_node *v = value ? source_bare_value(value) : NULL;

	if (!v)
		return false;
	if (v->kind == SOURCE_UNARY && v->op[0] == '-')
		return true;
	if (v->has_value && v->value != 0)
		return v->value < 0;
	return strncmp(f->text + v->text_begin, "NULL", 4) == 0 ||
	       strncmp(f->text + v->text_begin, "nullptr", 7) == 0 ||
	       strncmp(f->text + v->text_begin, "false", 5) == 0;
}

static bool ends_program(const struct source_node *call)
{
	static const char *const names[] = { "exit", "_exit", "_Exit", "abort", "err", "errx" };

	for (size_t i = 0; call->name && i < sizeof names / sizeof names[0]; i++)
		if (strcmp(call->name, names[i]) == 0)
			return true;
	return call->kind == SOURCE_CALL && call->name &&
	       (strcasestr(call->name, "die") || strcasestr(call->name, "fatal") ||
		strcasestr(call->name, "panic") || strcasestr(call->name, "abort"));
}

/* Asks whether the value is a variable whose name says that it holds an error. */
static bool is_error_name(const struct source_node *value)
{
	static const char *const names[] = { "err",    "error",  "rc",    "ret",
					     "result", "status", "errno", "res" };
	const struct source_node *v = source_bare(value);

	for (size_t i = 0; v->kind == SOURCE_NAME && v->name && i < sizeof names / sizeof names[0];
	     i++)
		if (strcmp(v->name, names[i]) == 0)
			return true;
	return false;
}

/* Asks whether the value is a positive number, with which many functions tell an error, too. */
static bool is_positive(const struct file *f, const struct source_node *value)
{
	const struct source_node *v = source_bare_value(value);

	return v->has_value && v->value > 0 && strncmp(f->text + v->text_begin, "true", 4) != 0;
}

bool file_branch_fails(const struct file *f, const struct source_node *branch)
{
	const struct source_node *last =
		branch && branch->kind == SOURCE_COMPOUND ? branch->last : branch;

	if (!last)
		return false;
	switch (last->kind) {
	case SOURCE_RETURN:
		return !last->child || file_is_error_value(f, last->child) ||
		       is_error_name(last->child) || is_positive(f, last->child);
	case SOURCE_JUMP: return strncmp(f->text + last->begin, "goto", 4) == 0;
	case SOURCE_CALL: return ends_program(last);
	default: return strncmp(f->text + last->begin, "throw", 5) == 0;
	}
}

/* Asks whether the name is a part of the handle: "l" and "fd" of "l->fd". */
static bool is_in_handle(const struct file_place *s, const char *name)
{
	for (const struct source_node *n = s->handle; n && name; n = node_next(n, s->handle))
		if ((n->kind == SOURCE_NAME || n->kind == SOURCE_MEMBER) && n->name &&
		    strcmp(n->name, name) == 0)
			return true;
	return false;
}

/* Asks whether the node changes which file the handle means. */
static bool is_assigned(const struct file_place *s, const struct source_node *n)
{
	const struct source_node *to =
		node_may_assign(n) || (n->kind == SOURCE_UNARY && n->op[0] == '&')
			? source_bare(n->child)
			: NULL;

	if (n->kind == SOURCE_VARIABLE)
		return is_in_handle(s, n->name);
	return to && (to->kind == SOURCE_NAME || to->kind == SOURCE_MEMBER) &&
	       is_in_handle(s, to->name);
}

/* Asks whether the call writes to the same file, by itself or as the call of the report does. */
static bool is_same_write(struct repair *r, const struct file_place *s,
			  const struct source_node *call)
{
	const struct file_call *c = file_call_of(s->at.unit, call);
	int i = 0;

	if (c)
		return (c->act & (ACT_WRITE | ACT_CLOSE)) == ACT_WRITE &&
		       is_same_handle(r, s, call_argument(call, c->handle));
	if (call->kind != SOURCE_CALL || !call->name || !s->at.store->name ||
	    strcmp(call->name, s->at.store->name) != 0)
		return false;
	for (const struct source_node *a = s->at.store->child ? s->at.store->child->next : NULL; a;
	     a = a->next, i++)
		if (source_bare(a) == s->handle)
			return is_same_handle(r, s, call_argument(call, i));
	/* a method, or a function that has the object: the same arguments lead to the same file */
	return false;
}

/* Asks whether the call is of a known function, and changes nothing that others see. */
static bool is_harmless_call(struct repair *r, const struct file_place *s,
			     const struct source_node *call)
{
	const struct file_call *c = file_call_of(s->at.unit, call);

	if (call == s->at.store || is_same_write(r, s, call))
		return true;
	if (c && c->act & (ACT_CLOSE | ACT_WRITE | ACT_NAME))
		return false;
	if (is_publishing(r, s, call))
		return false;
	return call_is_of_library(s->at.unit, call) ||
	       (call->name && function_computes(r->code, s->at.unit, call->name));
}

/* Finds a call under `top` that writes to the file; NULL: none. */
static const struct source_node *write_in(struct repair *r, const struct file_place *s,
					  const struct source_node *top)
{
	for (const struct source_node *n = top; n; n = node_next(n, top))
		if (n->kind == SOURCE_CALL && (n == s->at.store || is_same_write(r, s, n)))
			return n;
	return NULL;
}

/* Asks whether the text of the node is that of the variable, somewhere in the condition. */
static bool tests(const struct file_place *s, const struct source_node *condition)
{
	const size_t len = strlen(s->variable);

	for (const struct source_node *n = condition; n; n = node_next(n, condition))
		if ((n->kind == SOURCE_NAME || n->kind == SOURCE_MEMBER) &&
		    n->text_end - n->text_begin == len &&
		    memcmp(s->at.file->text + n->text_begin, s->variable, len) == 0)
			return true;
	return false;
}

/* Asks whether the condition only tests the value that the call gave. */
static bool mentions_error(const struct file_place *s, const struct source_node *condition)
{
	for (const struct source_node *n = condition; n; n = node_next(n, condition))
		if (n->kind == SOURCE_CALL)
			return false;
	return s->variable && tests(s, condition);
}

/* Asks whether the `if` compares a variable, and then certainly fails: if (n < 0) return -1; */
static bool tests_for_error(const struct file_place *s, const struct source_node *n)
{
	const struct source_node *test = source_bare(n->child), *then = n->child->next,
				 *of = test->kind == SOURCE_BINARY ? source_bare(test->child)
								   : NULL,
				 *last = then->kind == SOURCE_COMPOUND ? then->last : then;

	return of && of->kind == SOURCE_NAME && of->is_local && !is_in_handle(s, of->name) &&
	       !(last->kind == SOURCE_RETURN && last->child &&
		 is_positive(s->at.file, last->child));
}

/* Asks whether the `if` handles an error of a call that writes to the file, or of another one:
 * whoever takes its branch has failed. */
static bool handles_error(struct repair *r, const struct file_place *s, const struct source_node *n)
{
	const struct source_node *then = n->kind == SOURCE_IF && n->child ? n->child->next : NULL;

	return then && !then->next && file_branch_fails(s->at.file, then) &&
	       (write_in(r, s, n->child) || mentions_error(s, n->child) ||
		node_mentions(n->child, "errno") || tests_for_error(s, n));
}

static bool is_error_branch(struct repair *r, const struct file_place *s,
			    const struct source_node *n, const struct source_node *top)
{
	for (; n != top && n->parent; n = n->parent)
		if (n->parent->kind == SOURCE_IF && n == n->parent->child->next &&
		    handles_error(r, s, n->parent))
			return true;
	return false;
}

static bool is_later(const struct file_place *s, const struct source_node *n,
		     const struct repair_frame *there, bool with_column)
{
	return n->kind == SOURCE_CALL && n != s->at.store && n->line == there->line &&
	       (!with_column || n->column == there->column);
}

static bool has_later(const struct file_place *s, const struct source_node *top,
		      const struct repair_frame *there, bool with_column)
{
	for (const struct source_node *n = top; n; n = node_next(n, top))
		if (is_later(s, n, there, with_column))
			return true;
	return false;
}

/* Asks whether `top` contains what must come later. If no call is at its column, any call of its
 * line may be meant. */
static bool contains_later(const struct file_place *s, const struct source_node *top)
{
	const struct repair_frame *there;

	if (s->frame != common_frame(s, &there) || !there)
		return false;
	return has_later(s, top, there, has_later(s, s->at.function->body, there, true));
}

/* Asks whether the sync may come behind the statement: the file is the same and open then, nobody
 * sees anything of what it does, and it is only left on errors. */
static bool is_harmless(struct repair *r, const struct file_place *s, const struct source_node *top)
{
	if (contains_later(s, top))
		return false;
	for (const struct source_node *n = top; n; n = node_next(n, top)) {
		if (n->kind != SOURCE_CALL && n->kind != SOURCE_RETURN && n->kind != SOURCE_JUMP &&
		    n->kind != SOURCE_LAMBDA && n->kind != SOURCE_ASM && !is_assigned(s, n))
			continue;
		if (is_error_branch(r, s, n, top))
			continue;
		if (n->kind == SOURCE_CALL) {
			if (!is_harmless_call(r, s, n))
				return false;
		} else if (n->kind != SOURCE_JUMP ||
			   strncmp(s->at.file->text + n->begin, "goto", 4) == 0 ||
			   top->kind == SOURCE_IF || top->kind == SOURCE_JUMP) {
			return false;
		}
	}
	return true;
}

/* Asks whether the loop ends: it has a condition, or a break. */
static bool has_end(const struct file_place *s, const struct source_node *loop)
{
	const struct source_node *condition = loop->kind == SOURCE_DO ? loop->last : loop->child;
	bool is_constant = loop->kind == SOURCE_FOR
				   ? condition == loop->last
				   : source_bare_value(condition)->has_value ||
					     source_bare(condition)->kind == SOURCE_LITERAL;

	for (const struct source_node *n = loop; n && is_constant; n = node_next(n, loop))
		if (n->kind == SOURCE_JUMP && strncmp(s->at.file->text + n->begin, "break", 5) == 0)
			return true;
	return !is_constant;
}

/* ---- the statement ---- */

/* Asks whether a condition that decides about `from`, below `top`, mentions the open file: the file
 * may not be open if the condition does not hold. */
static bool depends_on_handle(const struct file_place *s, const struct source_node *from,
			      const struct source_node *top)
{
	for (const struct source_node *n = from; n != top && n->parent; n = n->parent) {
		const struct source_node *p = n->parent;

		if (n == p->child ||
		    (p->kind != SOURCE_IF && p->kind != SOURCE_WHILE && p->kind != SOURCE_FOR &&
		     p->kind != SOURCE_CONDITIONAL && p->kind != SOURCE_SWITCH &&
		     !(p->kind == SOURCE_BINARY && !node_is_assignment(p))))
			continue;
		for (const struct source_node *k = p->child; k && k != n; k = k->next)
			for (const struct source_node *m = k; m; m = node_next(m, k))
				if ((m->kind == SOURCE_NAME || m->kind == SOURCE_MEMBER) &&
				    is_in_handle(s, m->name) &&
				    !(m->parent && m->parent->kind == SOURCE_CALL))
					return true;
	}
	return false;
}

/* Returns the variable or member that gets the call's value; NULL: none. */
static const char *variable_of(struct repair *r, const struct file_place *s,
			       const struct source_node *call, const struct source_node *top)
{
	for (const struct source_node *n = call; n != top && n->parent; n = n->parent) {
		const struct source_node *p = n->parent,
					 *to = node_is_assignment(p) ? source_bare(p->child) : NULL;

		if (p->kind == SOURCE_VARIABLE)
			return p->name;
		if (to && n != p->child && (to->kind == SOURCE_NAME || to->kind == SOURCE_MEMBER))
			return text_of(r->code, s->at.file, to);
	}
	return NULL;
}

/* Checks an `if` whose condition makes the call: whoever leaves it, or closes the file in it, has
 * seen an error. */
static bool is_plain_if(struct repair *r, const struct file_place *s, const struct source_node *n)
{
	for (const struct source_node *b = n->child->next; b; b = b->next) {
		const bool fails = file_branch_fails(s->at.file, b);

		if (fails)
			continue;
		if (closes(r, s, b) || statement_may_be_left(s->at.file, b) || contains_later(s, b))
			return false;
		for (const struct source_node *k = b; k; k = node_next(k, b))
			if (is_assigned(s, k) ||
			    (k->kind == SOURCE_CALL && !is_harmless_call(r, s, k)))
				return false;
	}
	return true;
}

/* Asks whether a macro is given a comparison of the value, such as CHECK(fd >= 0). */
static bool mentions_condition(const struct file_place *s, const struct source_node *top)
{
	for (const struct source_node *n = top; n; n = node_next(n, top))
		if (n->kind == SOURCE_BINARY && n->op[0] && strchr("<>=!", n->op[0]) &&
		    mentions_error(s, n))
			return true;
	return false;
}

/* Asks whether the statement tests the value that the call gave, and fails or ends the program: an
 * `if`, or a macro that checks a condition. */
static bool is_test(const struct file_place *s, const struct source_node *n)
{
	const struct source_use *use = macro_use(s->at.unit, s->at.file->path, n);

	if (use)
		return use->begin == n->begin && text_semicolon(s->at.file, use->end) &&
		       mentions_condition(s, n);
	return n->kind == SOURCE_IF && n->child && mentions_error(s, n->child) && n->child->next &&
	       !n->child->next->next && file_branch_fails(s->at.file, n->child->next);
}

/* Takes the statement with the call, or the statement that handles its error behind it. */
static int take_statement(struct repair *r, struct file_place *s, const struct source_node *call,
			  const char **why)
{
	const struct source_node *n = call;

	while (n->parent && !node_is_body(s->at.file, n))
		n = n->parent;
	*why = "the statement is not in a block";
	if (!n->parent)
		return -1;
	*why = "whether the file is open behind the statement depends on its condition";
	if (depends_on_handle(s, call, n))
		return -1;
	*why = "the same statement closes the file, or does what must come after the sync";
	if (n->kind == SOURCE_IF ? closes(r, s, n->child) || contains_later(s, n->child)
				 : closes(r, s, n) || contains_later(s, n))
		return -1;
	*why = "what the statement does depends on whether it worked, so no place behind it fits";
	if (n->kind == SOURCE_IF && !is_plain_if(r, s, n))
		return -1;
	*why = "the call is in the head of a statement, behind which no place fits";
	if (n->kind == SOURCE_SWITCH || n->kind == SOURCE_LABEL ||
	    (source_is_loop(n) && (!is_harmless(r, s, n) || !has_end(s, n))))
		return -1;
	s->at.stmt = n;
	s->last = call;
	s->variable = variable_of(r, s, call, n);
	s->handler = n->kind == SOURCE_IF && n->child->next && !n->child->next->next ? n : NULL;
	s->at.where = n->kind == SOURCE_RETURN ? IN_RETURN : AFTER;
	for (n = n->next; n && s->variable && is_test(s, n) && !contains_later(s, n); n = n->next) {
		s->at.stmt = n;
		s->handler = n->kind == SOURCE_IF ? n : NULL;
		s->check = n->kind == SOURCE_IF ? NULL : macro_use(s->at.unit, s->at.file->path, n);
	}
	return 0;
}

/* Moves the place out of loops, behind which the file is still the same. */
static void leave_loops(struct repair *r, struct file_place *s)
{
	const struct source_node *body = s->at.function->body;

	for (const struct source_node *n = s->at.stmt->parent; n && n != body; n = n->parent) {
		if (n->kind == SOURCE_LAMBDA)
			return;
		if (!source_is_loop(n))
			continue;
		if (!is_harmless(r, s, n) || !has_end(s, n) || !node_is_body(s->at.file, n) ||
		    depends_on_handle(s, s->at.stmt, n->parent))
			return;
		s->at.stmt = n;
		s->variable = NULL;
	}
}

/* Moves the place behind later statements that write to the same file. */
static void follow_writes(struct repair *r, struct file_place *s)
{
	const struct source_node *n = s->at.stmt->next;

	if (s->at.where == IN_RETURN || !s->at.stmt->parent ||
	    s->at.stmt->parent->kind != SOURCE_COMPOUND)
		return;
	for (; n; n = n->next) {
		const struct source_node *call = write_in(r, s, n);
		struct file_place next = *s;
		const char *ignored;

		if (n->kind == SOURCE_RETURN || n->kind == SOURCE_LABEL)
			return;
		if (call && !source_is_loop(n) && take_statement(r, &next, call, &ignored) == 0 &&
		    next.at.stmt->parent == s->at.stmt->parent && next.at.where == AFTER) {
			*s = next;
			n = s->at.stmt;
		} else if (!is_harmless(r, s, n)) {
			return;
		} else if (call) {
			s->at.stmt = n;
			s->last = call;
			s->variable = NULL;
		}
	}
}

/* A stream is written when it is closed, so the sync comes before. */
static int place_before(struct repair *r, struct file_place *s, const char **why)
{
	const struct source_node *n = s->at.store;

	(void)r;
	while (n->parent && !node_is_body(s->at.file, n))
		n = n->parent;
	*why = "the stream is written when it is closed, and no place before that fits";
	if (!n->parent || n->parent->kind != SOURCE_COMPOUND || n->kind == SOURCE_SWITCH ||
	    source_is_loop(n) || depends_on_handle(s, s->at.store, n) ||
	    !text_begins_line(s->at.file, n->begin))
		return -1;
	/* what is evaluated before fclose() in the same statement may write, too */
	for (const struct source_node *k = n; k; k = node_next(k, n))
		if (k->kind == SOURCE_CALL && k->begin < s->at.store->begin)
			return -1;
	s->at.stmt = n;
	s->is_before = true;
	s->handler = n->kind == SOURCE_IF && n->child->next && !n->child->next->next ? n : NULL;
	return 0;
}

int file_place_settle(struct repair *r, struct file_place *s, const char **why)
{
	const char *first;

	if (r->options->root && !path_is_below(s->at.file->path, r->options->root)) {
		*why = text_format(r->code, "%s is not below %s, the source's folder (--root)",
				   s->at.file->path, r->options->root);
		return -1;
	}
	if (s->of->act & ACT_CLOSE && s->frame == 0)
		return place_before(r, s, why);
	if (!node_is_repeatable(s->at.unit, s->handle)) {
		*why = "the open file is named by an expression that cannot be evaluated again";
		return -1;
	}
	if (take_statement(r, s, s->at.store, &first) < 0) {
		*why = first;
		return -1;
	}
	leave_loops(r, s);
	if (!(s->of->act & ACT_NAME))
		follow_writes(r, s);
	return 0;
}
