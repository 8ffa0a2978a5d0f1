/* Decides what a new transaction does when it is aborted. The program never expected an abort:
 * memory is as before the transaction, but control continues in the middle of the function. If the
 * function has an obvious error value and holds nothing that it must release, it returns that
 * value. Otherwise the program ends, as in other transactions of the file or by abort(). But if the
 * file shows that callers are told of aborts, no transaction is written. In no case does the
 * function read a variable that was set inside the transaction. */
#include <ctype.h>
#include <string.h>

#include "repair/tx/internal.h"

/* ---- an error value ---- */

/* Returns the error that a text stands for: "" for -1 and other negative numbers, "errno" or
 * "-errno" for their names; NULL: the text is no error, or unknown. */
static const char *error_of(const char *text, size_t len)
{
	size_t minus = text[0] == '-', n = minus;

	while (n < len && isdigit((unsigned char)text[n]))
		n++;
	if (minus && n == len && n > 1 && text[1] != '0')
		return "";
	if (len < minus + 3 || text[minus] != 'E')
		return NULL;
	for (n = minus + 1;
	     n < len && (isupper((unsigned char)text[n]) || isdigit((unsigned char)text[n]));)
		n++;
	return n < len ? NULL : minus ? "-errno" : "errno";
}

/* Asks whether the call neither takes nor releases anything. Of an unknown call, that is not
 * known. */
static bool is_harmless(const struct source_unit *u, const struct source_node *call)
{
	static const char *const names[] = { "memcpy", "memmove", "memset",  "memcmp",
					     "memchr", "strcpy",  "strncpy", "strlen",
					     "strcmp", "strncmp", "snprintf" };
	static const char *const locks[] = { "pmemobj_mutex_", "pmemobj_rwlock_", "pmemobj_cond_" };

	if (!call->name)
		return false;
	for (size_t i = 0; i < sizeof locks / sizeof *locks; i++)
		if (strncmp(call->name, locks[i], strlen(locks[i])) == 0)
			return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(call->name, names[i]) == 0)
			return true;
	return strncmp(call->name, "pmemobj_", 8) == 0 || strncmp(call->name, "pmem_", 5) == 0 ||
	       strncmp(call->name, "__builtin_", 10) == 0 || function_is_pure(u, call->name);
}

static bool has_calls(const struct tx *t, uint32_t from, uint32_t to)
{
	const struct source_node *body = t->x.function->body;

	for (const struct source_node *n = body; n; n = node_next(n, body))
		if (n->kind == SOURCE_CALL && n->begin >= from && n->end <= to &&
		    !is_harmless(t->x.unit, n))
			return true;
	return false;
}

/* Returns the `if` that contains only this return; NULL: none. */
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

/* Returns the error value that the function returns in an `if` just before the transaction, or in
 * it: there, the function holds nothing that it must release. NULL: none. */
const char *tx_error_value(struct repair *r, const struct tx *t)
{
	const struct source_node *body = t->x.function->body, *found = NULL;
	const char *text = t->x.file->text, *error;
	uint32_t begin, end;

	if (t->x.function->returns_void || t->paths.n > 0 || node_is_in_lambda(t->first) ||
	    has_calls(t, t->first->begin, t->last->end))
		return NULL;
	for (const struct source_node *n = body; n; n = node_next(n, body))
		if (n->kind == SOURCE_RETURN && n->child && n->end <= t->last->end &&
		    n != t->last && if_of(n) && !node_is_in_lambda(n) &&
		    error_of(text + n->child->text_begin,
			     n->child->text_end - n->child->text_begin))
			found = n;
	if (!found)
		return NULL;
	begin = found->child->text_begin;
	end = found->child->text_end;
	error = error_of(text + begin, end - begin);
	if (!tx_holds(t, found) && (has_calls(t, if_of(found)->end, t->first->begin) ||
				    !is_around(if_of(found)->parent, t->first)))
		return NULL;
	return *error ? error : text_copy(r->code, text + begin, end - begin);
}

/* ---- what other transactions of the file do ---- */

/* Returns the error value with which the variable is declared, in the function that contains
 * `place`; NULL: none. */
static const char *initial_error(struct repair *r, const struct tx *t, uint32_t place,
				 const char *name)
{
	for (size_t i = 0; i < t->x.unit->nfunctions; i++) {
		const struct source_function *f = &t->x.unit->functions[i];
		bool is_around = f->body && f->begin <= place && place < f->end &&
				 strcmp(f->file, t->x.file->path) == 0;

		for (const struct source_node *n = is_around ? f->body : NULL; n;
		     n = node_next(n, f->body)) {
			const struct source_node *value =
				n->kind == SOURCE_VARIABLE && n->name && strcmp(n->name, name) == 0
					? n->last
					: NULL;

			if (value && error_of(t->x.file->text + value->text_begin,
					      value->text_end - value->text_begin))
				return text_of(r->code, t->x.file, value);
		}
	}
	return NULL;
}

/* Returns the error value that another transaction sets after its abort, and the variable that gets
 * it in *name: the VALUE in TX_ONABORT { NAME = VALUE; }, or the initial value of NAME if there is
 * TX_ONCOMMIT { NAME = 0; }. NULL: no other transaction shows it. */
static const char *value_of_others(struct repair *r, const struct tx *t, const char **name)
{
	const struct file *f = t->x.file;

	for (size_t i = 0; i < t->x.unit->nuses; i++) {
		const struct source_use *u = &t->x.unit->uses[i];
		bool is_commit = strcmp(u->name, "TX_ONCOMMIT") == 0;
		uint32_t at = u->end, end;

		if ((strcmp(u->name, "TX_ONABORT") != 0 && !is_commit) ||
		    strcmp(u->file, f->path) != 0)
			continue;
		at = text_skip_blanks(f, at);
		at = f->text[at] == '{' ? text_skip_blanks(f, at + 1) : f->len_bytes;
		for (end = at; end < f->len_bytes &&
			       (isalnum((unsigned char)f->text[end]) || f->text[end] == '_');)
			end++;
		*name = text_copy(r->code, f->text + at, end - at);
		at = end > at && end < f->len_bytes ? text_skip_blanks(f, end) : f->len_bytes;
		if (at >= f->len_bytes || f->text[at] != '=')
			continue;
		at = text_skip_blanks(f, at + 1);
		for (end = at; end < f->len_bytes && !strchr(";}\n", f->text[end]);)
			end++;
		if (end >= f->len_bytes || f->text[end] != ';' ||
		    f->text[text_skip_blanks(f, end + 1)] != '}')
			continue;
		if (is_commit && end == at + 1 && f->text[at] == '0' &&
		    initial_error(r, t, at, *name))
			return initial_error(r, t, at, *name);
		if (!is_commit && error_of(f->text + at, end - at))
			return text_copy(r->code, f->text + at, end - at);
	}
	return NULL;
}

/* Returns the return statement behind the transaction, if nothing else is between; NULL: none. */
static const struct source_node *return_behind(const struct tx *t)
{
	const struct source_node *n = t->last->next;

	while (n && tx_is_needless(t, n))
		n = n->next;
	return n && n->kind == SOURCE_RETURN && n->child ? n : NULL;
}

static bool is_set_inside(const struct tx *t, const char *name)
{
	for (const struct source_node *s = t->first;; s = s->next) {
		if (node_assigns(s, NULL, name))
			return true;
		if (s == t->last)
			return false;
	}
}

static bool is_of_int(const struct tx *t, const char *name)
{
	const struct source_node *body = t->x.function->body;

	for (const struct source_node *n = body; n; n = node_next(n, body))
		if (n->kind == SOURCE_VARIABLE && n->name && strcmp(n->name, name) == 0)
			return n->type && strcmp(n->type, "int") == 0 && n->begin < t->first->begin;
	return false;
}

/* Asks whether the function returns only 0 and errors. */
static bool tells_success(const struct tx *t)
{
	const struct source_node *body = t->x.function->body;
	const char *text = t->x.file->text;

	for (const struct source_node *n = body; n; n = node_next(n, body))
		if (n->kind == SOURCE_RETURN && !node_is_in_lambda(n) &&
		    !(n->child && ((n->child->text_end == n->child->text_begin + 1 &&
				    text[n->child->text_begin] == '0') ||
				   error_of(text + n->child->text_begin,
					    n->child->text_end - n->child->text_begin))))
			return false;
	return true;
}

void tx_follow_custom(struct repair *r, struct tx *t)
{
	const struct source_node *ret = t->flag || t->returns_at_end || node_is_in_lambda(t->first)
						? NULL
						: return_behind(t),
				 *value = ret ? ret->child : NULL;
	const char *name = NULL, *error = value ? value_of_others(r, t, &name) : NULL;

	while (value && value->kind == SOURCE_EXPR && value->child && value->child == value->last)
		value = value->child;
	if (!error)
		return;
	if (value->kind == SOURCE_NAME && value->is_local && is_of_int(t, value->name) &&
	    !is_set_inside(t, value->name)) {
		t->variable = value->name;
		t->error = error;
	} else if ((!t->error || strcmp(t->error, error) == 0) && value->kind == SOURCE_LITERAL &&
		   tells_success(t)) {
		t->error = error;
		t->variable = tx_free_name(r, t, name);
		t->zero = value;
	}
}

/* ---- ending the program ---- */

static bool is_declared_noreturn(struct repair *r, const struct source_function *f)
{
	const struct file *in = f->is_system ? NULL : file_open(r->code, f->file);
	const char *text = in && f->end <= in->len_bytes
				   ? text_copy(r->code, in->text + f->begin,
					       (f->body ? f->body->begin : f->end) - f->begin)
				   : "";

	return text_has_word(text, "_Noreturn") || text_has_word(text, "noreturn") ||
	       text_has_word(text, "__noreturn__");
}

static bool ends_program(struct repair *r, const struct source_unit *u, const char *name,
			 unsigned depth)
{
	static const char *const names[] = { "abort", "exit", "_exit", "_Exit", "quick_exit",
					     "err",   "errx", "verr",  "verrx" };
	const struct source_function *f = function_named(u, name);

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (strcmp(names[i], name) == 0)
			return true;
	for (size_t i = 0; i < u->nfunctions; i++)
		if (strcmp(u->functions[i].name, name) == 0 &&
		    is_declared_noreturn(r, &u->functions[i]))
			return true;
	return depth > 0 && f && f->body->last && f->body->last->kind == SOURCE_CALL &&
	       f->body->last->name && ends_program(r, u, f->body->last->name, depth - 1);
}

/* Asks whether the text is a call whose arguments are all literals. */
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

		if (strcmp(f->name, name) == 0 &&
		    (strcmp(f->file, t->x.file->path) != 0 || f->begin < t->x.function->begin))
			return true;
	}
	return false;
}

/* Returns the statement that ends the program after an abort: the only statement in another
 * TX_ONABORT, if that ends the program; otherwise "abort();". */
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
		if (end >= f->len_bytes || f->text[end] != ';' ||
		    f->text[text_skip_blanks(f, end + 1)] != '}')
			continue;
		name = text_copy(r->code, f->text + begin, strcspn(f->text + begin, "( \t"));
		if (is_plain_call(f->text + begin, end + 1 - begin) &&
		    is_declared_before(t, name) && ends_program(r, t->x.unit, name, 3))
			return text_copy(r->code, f->text + begin, end + 1 - begin);
	}
	return "abort();";
}

/* ---- whether a transaction suits the file ---- */

/* Returns the line of a call in the transaction that runs a transaction itself; 0: none. The
 * callers of that inner transaction learn of its abort there; as a part of another transaction,
 * they would not. */
static uint32_t line_of_inner(const struct tx *t)
{
	const struct source_node *body = t->x.function->body;

	for (const struct source_node *n = body; n; n = node_next(n, body))
		if (n->kind == SOURCE_CALL && tx_holds(t, n) &&
		    !macro_use(t->x.unit, t->x.file->path, n) && tx_call_begins(t->x.unit, n))
			return n->line;
	return 0;
}

static bool uses_macros(const struct tx *t)
{
	for (size_t i = 0; i < t->x.unit->nuses; i++)
		if (strcmp(t->x.unit->uses[i].name, "TX_BEGIN") == 0 &&
		    strcmp(t->x.unit->uses[i].file, t->x.file->path) == 0)
			return true;
	return false;
}

const char *tx_convention_why(struct repair *r, struct tx *t)
{
	const char *name;
	uint32_t inner;

	if (t->is_there || t->old || t->wrapper)
		return NULL;
	if (t->x.unit->is_cplusplus && !uses_macros(t) &&
	    has_calls(t, t->first->begin, t->last->end))
		return text_format(
			r->code,
			"an exception would leave the transaction that %s needs open, because this file has no function that runs one",
			t->x.function->name);
	if (t->error || t->variable || strcmp(tx_ending(r, t), "abort();") != 0)
		return NULL;
	if (value_of_others(r, t, &name))
		return text_format(
			r->code,
			"other transactions of this file report an abort to their callers, but %s has no error value: let it return one",
			t->x.function->name);
	inner = line_of_inner(t);
	if (inner)
		return text_format(
			r->code,
			"line %u runs its own transaction, and it is unclear what %s should do when that aborts: let it return an error",
			inner, t->x.function->name);
	return NULL;
}
