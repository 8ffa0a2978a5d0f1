/* Does a fence of the operation itself follow a store, before anybody is told? Looks at the statements behind it, then behind the call of its function, and so on outwards. One
 * that comes only under a condition, after output or in the next round of a loop is none that the store may lean on. */
#include <string.h>

#include "repair/durability/internal.h"

enum { CALLERS_MAX = 4, STATEMENTS_MAX = 200 };

enum found { NOTHING, FENCE, ANSWER, LEAVES };

/* What somebody outside may see; errors and logs on standard error are no answers. */
static bool is_output(const struct source_node *call)
{
	static const char *const names[] = { "printf", "puts", "putchar", "write", "writev", "send", "sendto", "sendmsg", "fputs", "fprintf", "fwrite", "putc", "fputc", "pwrite", "dprintf", "vprintf" };

	for (size_t i = 0; call->name && i < sizeof names / sizeof names[0]; i++)
		if (strcmp(call->name, names[i]) == 0)
			return true;
	return false;
}

static bool is_unconditional(const struct source_node *n, const struct source_node *top)
{
	for (; n != top; n = n->parent) {
		const struct source_node *p = n->parent;

		if ((p->kind == SOURCE_IF || p->kind == SOURCE_FOR || p->kind == SOURCE_WHILE || p->kind == SOURCE_CONDITIONAL || p->kind == SOURCE_SWITCH) && n != p->child)
			return false;
		if (p->kind == SOURCE_LAMBDA || (p->kind == SOURCE_BINARY && n != p->child && (!p->op[0] || p->op[1] == p->op[0])))
			return false;
	}
	return true;
}

static enum found look_at(struct repair *r, const struct fix *at, const struct source_node *top)
{
	const struct source_unit *u = at->unit;
	const struct source_use *use = macro_use(u, at->file->path, top);
	const char *flush;
	unsigned does;

	if (use && idiom_macro_does(r, u, use->name) & DOES_FENCE)
		return FENCE;

	for (const struct source_node *n = top; n; n = node_next(n, top)) {
		if (n->kind == SOURCE_CALL && is_output(n))
			return ANSWER;
		if (n->kind == SOURCE_CALL && is_unconditional(n, top) && (idiom_call_does_far(r, u, n) & (DOES_FENCE | DOES_STORE)) == DOES_FENCE)
			return FENCE; /* one that stores, too, fences for itself */
		if (n->kind == SOURCE_ASM && idiom_asm(u, n, &does, &flush) && does & DOES_FENCE && is_unconditional(n, top))
			return FENCE;
	}
	return top->kind == SOURCE_RETURN || top->kind == SOURCE_JUMP ? LEAVES : NOTHING;
}

static const struct source_node *label_of(const struct fix *at, const struct source_node *jump)
{
	const char *text = at->file->text + jump->begin, *name;
	size_t len;

	if (strncmp(text, "goto", 4) != 0)
		return NULL;
	name = text + 4 + strspn(text + 4, " \t");
	len = strcspn(name, "; \t\n");
	for (const struct source_node *n = at->function->body; n; n = node_next(n, at->function->body))
		if (n->kind == SOURCE_LABEL && strncmp(at->file->text + n->begin, name, len) == 0 && strchr(": \t", at->file->text[n->begin + len]))
			return n;
	return NULL;
}

static const struct source_node *loop_around(const struct source_node *n)
{
	while (n && n->kind != SOURCE_FOR && n->kind != SOURCE_WHILE && n->kind != SOURCE_DO && n->kind != SOURCE_SWITCH)
		n = n->parent;
	return n;
}

/* From behind a statement to the end of its function. */
static enum found look_behind(struct repair *r, const struct fix *at, const struct source_node *from)
{
	const struct source_node *n = from;

	for (unsigned i = 0; n && n->parent && i < STATEMENTS_MAX; i++) {
		enum found found;

		/* the other branch of an `if`, the parts of a `for` are not what comes next */
		n = n->parent->kind == SOURCE_COMPOUND && n->next ? n->next : n->parent;
		if (n == from->parent || n->begin <= from->begin)
			continue; /* up */
		found = look_at(r, at, n);
		if (found == FENCE || found == ANSWER)
			return found;
		if (found == LEAVES && n->kind == SOURCE_JUMP) {
			const struct source_node *label = label_of(at, n);
			const char *word = at->file->text + n->begin;

			if (label && label->begin > n->begin && look_at(r, at, label) != NOTHING)
				return look_at(r, at, label);
			n = label && label->begin > n->begin ? label : strncmp(word, "break", 5) == 0 ? loop_around(n) : NULL;
			if (!n)
				return ANSWER;
			from = n;
		} else if (found == LEAVES) {
			return NOTHING;
		}
	}
	return NOTHING;
}

bool fence_follows(struct repair *r, const struct fix *x, const struct repair_place *p, size_t frame)
{
	struct fix at = *x;
	const struct source_node *from = x->stmt;
	const char *callee = x->function->name, *why;

	for (size_t i = 0; from && i <= CALLERS_MAX; i++) {
		enum found found = from->kind == SOURCE_RETURN ? NOTHING : look_behind(r, &at, from);

		if (found != NOTHING)
			return found == FENCE;
		if (frame + i + 1 >= p->nframes || fix_enter_frame(r, &at, p, frame + i + 1, &why) < 0)
			return false;
		from = call_at(at.function, callee, p->frames[frame + i + 1].line, p->frames[frame + i + 1].column);
		while (from && from->parent && from->parent->kind != SOURCE_COMPOUND)
			from = from->parent;
		callee = at.function->name;
	}
	return false;
}
