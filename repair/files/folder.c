/* Finds the folder of a path by how the path is written: a literal, or what snprintf made of a
 * folder and a name. */
#include <string.h>

#include "repair/files/internal.h"

/* Returns the literal that the node is, or that the macro of this name stands for; NULL: none. */
static const char *literal_of(struct repair *r, const struct file_place *s,
			      const struct source_node *n)
{
	const char *text = text_of(r->code, s->at.file, n);
	size_t len;

	for (size_t i = 0; i < s->at.unit->nmacros && text_is_identifier(text); i++)
		if (strcmp(s->at.unit->macros[i].name, text) == 0 &&
		    !s->at.unit->macros[i].is_function) {
			text = s->at.unit->macros[i].text + strlen(text);
			text += strspn(text, " \t");
			break;
		}
	len = strlen(text);
	return len >= 2 && text[0] == '"' && strchr(text + 1, '"') == text + len - 1 &&
			       !strchr(text, '\\')
		       ? text
		       : NULL;
}

static const char *folder_of_literal(struct repair *r, const char *literal)
{
	const char *slash = strrchr(literal, '/');

	if (!slash)
		return "\".\"";
	return slash == literal + 1
		       ? "\"/\""
		       : text_format(r->code, "%.*s\"", (int)(slash - literal), literal);
}

static bool is_local_name(const struct source_node *n, const char *name)
{
	return n && n->kind == SOURCE_NAME && n->is_local && n->name && strcmp(n->name, name) == 0;
}

/* Asks whether the call may change the text in this variable. */
static bool changes(const struct source_node *call, const char *name)
{
	static const char *const others[] = { "strcpy",   "strcat",  "strncat", "strncpy",
					      "memcpy",   "stpcpy",  "strlcpy", "strlcat",
					      "realpath", "dirname", "basename" };

	for (size_t i = 0; call->name && i < sizeof others / sizeof others[0]; i++)
		if (strcmp(call->name, others[i]) == 0)
			return is_local_name(call_argument(call, 0), name);
	return false;
}

/* Returns the number of the format's argument, for snprintf and sprintf; -1: another call. */
static int format_of(const struct source_node *call)
{
	return !call->name                           ? -1
	       : strcmp(call->name, "snprintf") == 0 ? 2
	       : strcmp(call->name, "sprintf") == 0  ? 1
						     : -1;
}

/* Returns the folder that the only snprintf() into this variable wrote in front of the name; NULL:
 * it is not known. */
static const char *folder_of_variable(struct repair *r, const struct file_place *s,
				      const char *name)
{
	const struct source_function *f = s->at.function;
	const struct source_node *made = NULL, *folder;
	const char *format;

	for (const struct source_node *n = f->body; n; n = node_next(n, f->body)) {
		if (n->kind != SOURCE_CALL)
			continue;
		if (changes(n, name) ||
		    (made && format_of(n) >= 0 && is_local_name(call_argument(n, 0), name)))
			return NULL;
		if (format_of(n) >= 0 && is_local_name(call_argument(n, 0), name))
			made = n;
	}
	if (!made || made->begin > s->at.store->begin)
		return NULL;
	format = literal_of(r, s, call_argument(made, format_of(made)));
	folder = call_argument(made, format_of(made) + 1);
	if (!format || !folder || strncmp(format, "\"%s/", 4) != 0 || strchr(format + 4, '/') ||
	    !node_is_repeatable(s->at.unit, folder))
		return NULL;
	for (const struct source_node *n = folder; n; n = node_next(n, folder))
		if (n->kind == SOURCE_NAME && n->name && (node_assigns(f->body, NULL, n->name)))
			return NULL;
	return text_of(r->code, s->at.file, folder);
}

const char *file_folder_of(struct repair *r, const struct file_place *s, const char **why)
{
	const char *literal = literal_of(r, s, s->handle), *folder = NULL;

	if (literal)
		return folder_of_literal(r, literal);
	if (s->handle->kind == SOURCE_NAME && s->handle->is_local && s->handle->name)
		folder = folder_of_variable(r, s, s->handle->name);
	if (!folder)
		*why = text_format(r->code, "nothing shows which folder %s is in",
				   text_of(r->code, s->at.file, s->handle));
	return folder;
}

const char *file_folder_descriptor(struct repair *r, const struct file_place *s, const char **why)
{
	const struct source_node *fd = s->of->folder >= 0 && s->frame == 0
					       ? call_argument(s->at.store, s->of->folder)
					       : NULL;
	const char *text = fd ? text_of(r->code, s->at.file, fd) : NULL,
		   *literal = literal_of(r, s, s->handle);

	if (!text || strcmp(text, "AT_FDCWD") == 0 || !node_is_repeatable(s->at.unit, fd))
		return NULL;
	if (literal && !strchr(literal, '/'))
		return text;
	*why = text_format(r->code,
			   "the name %s may be one in another folder than %s: nothing shows it",
			   text_of(r->code, s->at.file, s->handle), text);
	return NULL;
}
