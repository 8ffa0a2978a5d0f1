/* Writes the call that syncs, with the error handling of its place: that of the statement behind
 * which it goes, a macro that checks, or none where the file has none. */
#include <string.h>

#include "repair/files/internal.h"
#include "source/source.h"

/* Returns the text with `by` for each occurrence of `what`. */
static const char *with(struct repair *r, const char *text, const char *what, const char *by)
{
	const char *out = "", *at;

	for (; (at = strstr(text, what)); text = at + strlen(what))
		out = text_format(r->code, "%s%.*s%s", out, (int)(at - text), text, by);
	return text_format(r->code, "%s%s", out, text);
}

static bool flushes_first(const struct file_place *s, const struct file_way *w, enum file_sync does)
{
	return does == FILE_SYNC_STREAM && !w->is_own &&
	       !(s->last && s->last->name && strcmp(s->last->name, "fflush") == 0);
}

/* Returns an expression that is true if the sync fails. */
static const char *failure_of(struct repair *r, const struct file_place *s,
			      const struct file_way *w, enum file_sync does, const char *call,
			      const char *file)
{
	const char *suffix = w->suffix ? w->suffix : w->is_own ? " != 0" : " < 0";

	if (w->is_bool)
		return text_format(r->code, "!%s", call);
	if (!flushes_first(s, w, does))
		return text_format(r->code, "%s%s", call, suffix);
	/* fflush() gives EOF, which is negative */
	return text_format(r->code, "fflush(%s)%s || %s%s", file, suffix, call, suffix);
}

/* ---- the branch of an error ---- */

/* Returns the bytes of the branch of an `if`, from behind its parenthesis on. */
static const char *branch_text(struct repair *r, const struct file *f, const struct source_node *n,
			       bool *is_block)
{
	const struct source_node *then = n->child->next;
	uint32_t from = text_skip_blanks(f, n->child->text_end),
		 to = then->kind == SOURCE_COMPOUND ? then->end : statement_end(f, then);

	*is_block = then->kind == SOURCE_COMPOUND;
	while (from < then->begin && f->text[from] != ')')
		from++;
	if (f->text[from] != ')' || from >= then->begin || text_has_directive(f, from, to))
		return NULL;
	return text_copy(r->code, f->text + from + 1, to - from - 1);
}

/* Writes the name of the sync where messages of the branch name the call that failed. */
static const char *renamed_in_strings(struct repair *r, const char *text, const char *from,
				      const char *to)
{
	const char *out = "", *open, *close;

	for (; (open = strchr(text, '"')) && (close = strchr(open + 1, '"')); text = close + 1) {
		const char *string = text_copy(r->code, open, (size_t)(close + 1 - open));

		if (text_has_word(string, from))
			string = with(r, string, from, to);
		out = text_format(r->code, "%s%.*s%s", out, (int)(open - text), text, string);
	}
	return text_format(r->code, "%s%s", out, text);
}

/* Asks whether the branch means the same behind the statement: it leaves no loop, and does not look
 * at the value of the call. */
static bool is_usable(const struct file_place *s, const struct source_node *n)
{
	const struct source_node *then = n->child->next;

	for (const struct source_node *k = then; k; k = node_next(k, then)) {
		if (k->kind == SOURCE_JUMP && strncmp(s->at.file->text + k->begin, "goto", 4) != 0)
			return false;
		if ((k->kind == SOURCE_NAME || k->kind == SOURCE_MEMBER) && s->variable &&
		    text_has_word(s->variable, k->name ? k->name : ""))
			return false;
	}
	return true;
}

/* Asks whether the test of the `if` holds when the call failed. */
static bool is_for_errors(const struct file_place *s, const struct source_node *n)
{
	const struct source_node *then = n->child->next;

	for (const struct source_node *k = n->child; k; k = node_next(k, n->child))
		if (k->kind == SOURCE_CALL && file_test_of(k) == FILE_TEST_WORKS)
			return false;
	return file_branch_fails(s->at.file, then) || (s->handler == n && !s->variable);
}

static bool is_about_file(struct repair *r, const struct file_place *s,
			  const struct source_node *condition)
{
	const char *handle = text_of(r->code, s->at.file, s->handle);

	for (const struct source_node *k = condition; k; k = node_next(k, condition))
		if (k->kind == SOURCE_CALL)
			for (const struct source_node *a = k->child ? k->child->next : NULL; a;
			     a = a->next)
				if (strcmp(text_of(r->code, s->at.file, source_bare(a)), handle) ==
				    0)
					return true;
	return false;
}

/* Finds an `if` of the function whose branch handles an error as it must be handled here: the one
 * of the statement itself, or else the nearest one before that is about the same file. */
static const struct source_node *find_handler(struct repair *r, const struct file_place *s)
{
	const struct source_node *body = s->at.function->body, *found = NULL;

	if (s->handler && is_for_errors(s, s->handler) && is_usable(s, s->handler))
		return s->handler;
	for (const struct source_node *n = body; n; n = node_next(n, body)) {
		if (n->kind != SOURCE_IF || n->begin > s->at.stmt->end || !n->child ||
		    !n->child->next || n->child->next->next || !is_about_file(r, s, n->child) ||
		    !is_for_errors(s, n) || !file_branch_fails(s->at.file, n->child->next) ||
		    !is_usable(s, n))
			continue;
		/* a branch in another block may use variables of that block */
		if (source_is_inside(n, s->at.stmt) || source_is_inside(s->at.stmt, n->parent))
			found = n;
	}
	return found;
}

/* ---- macros that check ---- */

/* Returns the expression that is true if the sync worked; NULL: it flushes a stream first, and has
 * no short form. */
static const char *success_of(struct repair *r, const struct file_place *s,
			      const struct file_way *w, enum file_sync does, const char *call,
			      const char *file)
{
	if (w->is_bool)
		return call;
	return flushes_first(s, w, does)
		       ? text_format(r->code, "fflush(%s) == 0 && %s == 0", file, call)
		       : text_format(r->code, "%s == 0", call);
}

/* Says what the macro's condition means that is around the call, or that tests its value. */
static enum file_test meaning_of(const struct file_place *s, const struct source_use *use)
{
	const char *text = s->at.file->text;

	if (use != s->check)
		return s->at.store->text_begin > use->begin && s->at.store->text_end < use->end
			       ? file_test_of(s->at.store)
			       : FILE_TEST_NONE;
	for (uint32_t i = use->begin; i + 1 < use->end; i++) {
		if (text[i] == '-' && text[i + 1] == '>')
			i++;
		else if (text[i] == '>' || (text[i] == '!' && text[i + 1] == '='))
			return FILE_TEST_WORKS;
		else if (text[i] == '<' || (text[i] == '=' && text[i + 1] == '='))
			return FILE_TEST_FAILS;
	}
	return FILE_TEST_NONE;
}

/* Returns the statement that checks the sync by the macro that checks the call of the report, or by
 * one that checks other syncs of the file; NULL: there is none. */
static const char *checked(struct repair *r, const struct file_place *s, const struct file_way *w,
			   enum file_sync does, const char *call, const char *file)
{
	const struct source_use *use =
		s->check ? s->check : macro_use(s->at.unit, s->at.file->path, s->at.store);
	const char **args = use ? text_arguments(r->code, s->at.file, use->begin, use->end) : NULL;

	if (args && args[0] && !args[1])
		switch (meaning_of(s, use)) {
		case FILE_TEST_WORKS:
			return text_format(r->code, "%s(%s)", use->name,
					   success_of(r, s, w, does, call, file));
		case FILE_TEST_FAILS:
			return text_format(r->code, "%s(%s)", use->name,
					   failure_of(r, s, w, does, call, file));
		case FILE_TEST_NONE: break;
		}
	if (w->check && (does != FILE_SYNC_STREAM || w->is_own))
		return with(r, w->check, "{file}", file);
	return NULL;
}

/* Returns the value with which a function whose return statement makes the call tells an error;
 * NULL: unknown. */
static const char *error_value(struct repair *r, const struct file_place *s)
{
	const struct source_node *value = source_bare(s->at.stmt->child);
	const struct source_node *body = s->at.function->body;

	if (value->kind == SOURCE_CONDITIONAL && value->last && value->child->next) {
		const struct source_node *a = value->child->next, *b = value->last;

		return file_is_error_value(s->at.file, b)   ? text_of(r->code, s->at.file, b)
		       : file_is_error_value(s->at.file, a) ? text_of(r->code, s->at.file, a)
							    : NULL;
	}
	if (value->kind == SOURCE_BINARY || value->kind == SOURCE_UNARY)
		return file_test_of(s->at.store) == FILE_TEST_WORKS && s->at.unit->is_cplusplus
			       ? "false"
		       : file_test_of(s->at.store) == FILE_TEST_WORKS ? "0"
								      : NULL;
	if (value == s->at.store && s->frame == 0 && !s->of->is_stream &&
	    strcmp(s->of->name, "posix_fallocate") != 0)
		return "-1";
	for (const struct source_node *n = body; n; n = node_next(n, body))
		if (n->kind == SOURCE_RETURN && n->child && n != s->at.stmt &&
		    file_is_error_value(s->at.file, n->child))
			return text_of(r->code, s->at.file, source_bare_value(n->child));
	return NULL;
}

/* ---- the whole text ---- */

/* Returns the text of a block with the indentation of the new place. */
static const char *indented(struct repair *r, const char *text, const char *from, const char *to)
{
	const char *out = "", *end;

	for (; (end = strchr(text, '\n')); text = end) {
		out = text_format(r->code, "%s%.*s\n%s", out, (int)(end - text), text, to);
		end++;
		if (strncmp(end, from, strlen(from)) == 0)
			end += strlen(from);
	}
	return text_format(r->code, "%s%s", out, text);
}

static void use_branch(struct repair *r, const struct file_place *s, const struct source_node *n,
		       const struct file_way *w, const char *failure, const char *branch,
		       bool is_block, struct file_words *out)
{
	const char *from = text_indent(r->code, s->at.file, n->begin),
		   *to = text_indent(r->code, s->at.file, s->at.stmt->begin), *p = branch;

	for (const struct source_node *k = n->child; k; k = node_next(k, n->child))
		if (k->kind == SOURCE_CALL && k->name)
			branch = renamed_in_strings(r, branch, k->name, w->name);
	if (s->at.store->name)
		branch = renamed_in_strings(r, branch, s->at.store->name, w->name);
	if (s->of)
		branch = renamed_in_strings(r, branch, s->of->name, w->name);
	if (is_block) {
		out->block =
			text_format(r->code, "if (%s)%s", failure, indented(r, branch, from, to));
		return;
	}
	p = branch + strspn(branch, " \t\r\n");
	p = text_copy(r->code, p, strlen(p) - (p[0] && p[strlen(p) - 1] == ';'));
	out->line = text_format(r->code, strchr(branch, '\n') ? "if (%s)\n\t%s" : "if (%s) %s",
				failure, p);
}

/* Returns the call that the branch of an error needs in addition: the error of fclose() leaves the
 * stream closed, and that of open() leaves nothing open, but that of a sync does. NULL: none. */
static const char *cleanup(struct repair *r, const struct file_place *s, const char *file)
{
	const struct source_node *then = s->handler->child->next;

	if (s->is_before)
		return text_format(r->code, "fclose(%s)", file);
	if (s->frame > 0 || !s->variable || !file_branch_fails(s->at.file, then) ||
	    (then->last && then->last->kind == SOURCE_JUMP) || then->kind == SOURCE_JUMP)
		return NULL;
	if (strncmp(s->of->name, "open", 4) == 0 || strcmp(s->of->name, "creat") == 0 ||
	    strcmp(s->of->name, "mkstemp") == 0)
		return text_format(r->code, "close(%s)", s->variable);
	return strcmp(s->of->name, "fopen") == 0 ? text_format(r->code, "fclose(%s)", s->variable)
						 : NULL;
}

static const char *closing(struct repair *r, const struct file_place *s, const char *branch,
			   bool *is_block, const char *file)
{
	const char *close = s->handler ? cleanup(r, s, file) : NULL, *body = branch, *indent,
		   *unit = indent_unit(r->code, s->at.file, s->at.function);

	if (!close || strstr(branch, close) ||
	    !file_branch_fails(s->at.file, s->handler->child->next))
		return branch;
	indent = text_indent(r->code, s->at.file, s->handler->begin);
	if (*is_block) {
		body = strchr(branch, '{');
		return text_format(r->code, "%.*s{\n%s%s%s;%s", (int)(body - branch), branch,
				   indent, unit, close, body + 1);
	}
	*is_block = true;
	return text_format(r->code, " {\n%s%s%s;\n%s%s%s\n%s}", indent, unit, close, indent, unit,
			   branch + strspn(branch, " \t\r\n"), indent);
}

/* Asks whether the statement drops the value of the call: (void)fclose(f); */
static bool is_ignored(const struct file_place *s)
{
	return source_bare(s->at.stmt) == s->at.store ||
	       strncmp(s->at.file->text + s->at.stmt->text_begin, "(void)", 6) == 0;
}

/* Makes the sync before return fclose(f). -1: the statement does something else with the value. */
static int returned(struct repair *r, const struct file_place *s, const char *failure,
		    const char *file, struct file_words *out)
{
	const struct source_node *n = s->at.stmt;
	const char *indent = text_indent(r->code, s->at.file, n->begin),
		   *unit = indent_unit(r->code, s->at.file, s->at.function);

	if (n->kind != SOURCE_RETURN || !n->child || source_bare(n->child) != s->at.store ||
	    s->at.store->name == NULL || strcmp(s->at.store->name, "fclose") != 0)
		return -1;
	out->block = text_format(r->code, "if (%s) {\n%s%sfclose(%s);\n%s%sreturn EOF;\n%s}",
				 failure, indent, unit, file, indent, unit, indent);
	return 0;
}

int file_words_make(struct repair *r, const struct file_place *s, const struct file_way *w,
		    enum file_sync does, const char *file, struct file_words *out, const char **why)
{
	const char *call = with(r, w->call, "{file}", file),
		   *failure = failure_of(r, s, w, does, call, file), *branch;
	const bool is_macro = s->check || macro_use(s->at.unit, s->at.file->path, s->at.store);
	const struct source_node *handler;
	bool is_block = false;

	*out = (struct file_words){ 0 };
	if (s->at.where == IN_RETURN) {
		const char *value = w->has_status ? error_value(r, s) : NULL;

		out->result_type = s->at.stmt->child ? s->at.stmt->child->type : NULL;
		*why = "the call is in a return statement, and the value of an error is not known";
		if (!out->result_type || strpbrk(out->result_type, "([") ||
		    s->at.stmt->parent->kind == SOURCE_LABEL || (w->has_status && !value))
			return -1;
		out->line = w->has_status
				    ? text_format(r->code, "if (%s)\n\treturn %s", failure, value)
				    : call;
		return 0;
	}
	if (!w->has_status) {
		out->line = flushes_first(s, w, does)
				    ? text_format(r->code, "fflush(%s);\n%s", file, call)
				    : call;
		return 0;
	}
	handler = is_macro ? NULL : find_handler(r, s);
	branch = handler ? branch_text(r, s->at.file, handler, &is_block) : NULL;
	if (branch) {
		branch = closing(r, s, branch, &is_block, file);
		use_branch(r, s, handler, w, failure, branch, is_block, out);
		return 0;
	}
	out->line = checked(r, s, w, does, call, file);
	if (out->line)
		return 0;
	*why = "no error handling of the function fits the sync";
	if (s->handler || s->variable || file_test_of(s->at.store) != FILE_TEST_NONE)
		return -1;
	/* rc = fclose(f); what tests the value is not here */
	if (s->is_before && s->at.stmt != s->at.store && !is_ignored(s))
		return returned(r, s, failure, file, out);
	/* the program does not test the call either */
	out->line = call;
	if (flushes_first(s, w, does))
		out->block = text_format(r->code, "fflush(%s);\n%s%s;", file,
					 text_indent(r->code, s->at.file, s->at.stmt->begin), call);
	return 0;
}
