/* What comes of an abort, which the program never expected: memory is as it was before the transaction, but control comes back from the middle of it. If the
 * function has an evident error value, and nothing is held that it would have to give back, it returns that. Else the program ends, as other transactions of
 * the file do it, or by abort(). In neither case is a variable looked at that was set in the transaction. */
#include <ctype.h>
#include <string.h>

#include "repair/tx/internal.h"

/* ---- an error value ---- */

/* -1 or another negative number; errno for its names. NULL: it is no error, or nobody knows. */
static const char *error_of(const char *text, size_t len)
{
	size_t minus = text[0] == '-', n = minus;

	while (n < len && isdigit((unsigned char)text[n]))
		n++;
	if (minus && n == len && n > 1 && text[1] != '0')
		return "";
	if (len < minus + 3 || text[minus] != 'E')
		return NULL;
	for (n = minus + 1; n < len && (isupper((unsigned char)text[n]) || isdigit((unsigned char)text[n]));)
		n++;
	return n < len ? NULL : minus ? "-errno" : "errno";
}

/* What a call may hold, or give back, is not known; these do neither. */
static bool is_harmless(const struct source_unit *u, const struct source_node *call)
{
	static const char *const names[] = { "memcpy", "memmove", "memset", "memcmp", "memchr", "strcpy", "strncpy", "strlen", "strcmp", "strncmp", "snprintf" };
	static const char *const locks[] = { "pmemobj_mutex_", "pmemobj_rwlock_", "pmemobj_cond_" };

	if (!call->name)
		return false;
	for (size_t i = 0; i < sizeof locks / sizeof *locks; i++)
		if (strncmp(call->name, locks[i], strlen(locks[i])) == 0)
			return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(call->name, names[i]) == 0)
			return true;
	return strncmp(call->name, "pmemobj_", 8) == 0 || strncmp(call->name, "pmem_", 5) == 0 || strncmp(call->name, "__builtin_", 10) == 0 ||
	       function_is_pure(u, call->name);
}

static bool has_calls(const struct tx *t, uint32_t from, uint32_t to)
{
	const struct source_node *body = t->x.function->body;

	for (const struct source_node *n = body; n; n = node_next(n, body))
		if (n->kind == SOURCE_CALL && n->begin >= from && n->end <= to && !is_harmless(t->x.unit, n))
			return true;
	return false;
}

/* The `if` that has nothing but this return to do; NULL. */
static const struct source_node *if_of(const struct source_node *ret)
{
	const struct source_node *p = ret->parent;

	if (p && p->kind == SOURCE_COMPOUND && p->child == ret && p->last == ret)
		p = p->parent;
	return p && p->kind == SOURCE_IF ? p : NULL;
}

static bool is_around(const struct source_node *block, const struct source_node *n)
{
	while (n && n != block)
		n = n->parent;
	return n != NULL;
}

/* Just before the transaction, or in it, the function gives up and returns: at that point it holds nothing. */
const char *tx_error_value(struct repair *r, const struct tx *t)
{
	const struct source_node *body = t->x.function->body, *found = NULL;
	const char *text = t->x.file->text, *error;
	uint32_t begin, end;

	if (t->x.function->returns_void || t->paths.n > 0 || node_is_in_lambda(t->first) || has_calls(t, t->first->begin, t->last->end))
		return NULL;
	for (const struct source_node *n = body; n; n = node_next(n, body))
		if (n->kind == SOURCE_RETURN && n->child && n->end <= t->last->end && n != t->last && if_of(n) && !node_is_in_lambda(n) &&
		    error_of(text + n->child->text_begin, n->child->text_end - n->child->text_begin))
			found = n;
	if (!found)
		return NULL;
	begin = found->child->text_begin;
	end = found->child->text_end;
	error = error_of(text + begin, end - begin);
	if (!tx_holds(t, found) && (has_calls(t, if_of(found)->end, t->first->begin) || !is_around(if_of(found)->parent, t->first)))
		return NULL;
	return *error ? error : text_copy(r->code, text + begin, end - begin);
}

/* ---- how other transactions end the program ---- */

static bool is_declared_noreturn(struct repair *r, const struct source_function *f)
{
	const struct file *in = f->is_system ? NULL : file_open(r->code, f->file);
	const char *text = in && f->end <= in->len_bytes ? text_copy(r->code, in->text + f->begin, (f->body ? f->body->begin : f->end) - f->begin) : "";

	return text_has_word(text, "_Noreturn") || text_has_word(text, "noreturn") || text_has_word(text, "__noreturn__");
}

static bool ends_program(struct repair *r, const struct source_unit *u, const char *name, unsigned depth)
{
	static const char *const names[] = { "abort", "exit", "_exit", "_Exit", "quick_exit", "err", "errx", "verr", "verrx" };
	const struct source_function *f = function_named(u, name);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	for (size_t i = 0; i < u->nfunctions; i++)
		if (strcmp(u->functions[i].name, name) == 0 && is_declared_noreturn(r, &u->functions[i]))
			return true;
	return depth > 0 && f && f->body->last && f->body->last->kind == SOURCE_CALL && f->body->last->name &&
	       ends_program(r, u, f->body->last->name, depth - 1);
}

/* A call with nothing but literals. */
static bool is_plain_call(const char *text, size_t len)
{
	size_t i = 0;

	while (i < len && (isalnum((unsigned char)text[i]) || text[i] == '_'))
		i++;
	if (i == 0 || i >= len || text[i++] != '(')
		return false;
	for (; i < len && text[i] != ')'; i++) {
		if (text[i] == '"')
			for (i++; i < len && text[i] != '"'; i++)
				i += text[i] == '\\';
		else if (isalpha((unsigned char)text[i]) || text[i] == '(')
			return false;
	}
	return i + 2 == len && text[i + 1] == ';';
}

static bool is_declared_before(const struct tx *t, const char *name)
{
	for (size_t i = 0; i < t->x.unit->nfunctions; i++) {
		const struct source_function *f = &t->x.unit->functions[i];

		if (strcmp(f->name, name) == 0 && (strcmp(f->file, t->x.file->path) != 0 || f->begin < t->x.function->begin))
			return true;
	}
	return false;
}

/* The only statement behind TX_ONABORT, if it ends the program. */
const char *tx_ending(struct repair *r, const struct tx *t)
{
	const struct file *f = t->x.file;

	for (size_t i = 0; i < t->x.unit->nuses; i++) {
		const struct source_use *u = &t->x.unit->uses[i];
		uint32_t begin, end;
		const char *name;

		if (strcmp(u->name, "TX_ONABORT") != 0 || strcmp(u->file, f->path) != 0)
			continue;
		begin = text_skip_blanks(f, u->end);
		if (begin >= f->len_bytes || f->text[begin] != '{')
			continue;
		begin = text_skip_blanks(f, begin + 1);
		for (end = begin; end < f->len_bytes && !strchr(";}\n", f->text[end]);)
			end++;
		if (end >= f->len_bytes || f->text[end] != ';' || f->text[text_skip_blanks(f, end + 1)] != '}')
			continue;
		name = text_copy(r->code, f->text + begin, strcspn(f->text + begin, "( \t"));
		if (is_plain_call(f->text + begin, end + 1 - begin) && is_declared_before(t, name) && ends_program(r, t->x.unit, name, 3))
			return text_copy(r->code, f->text + begin, end + 1 - begin);
	}
	return "abort();";
}
