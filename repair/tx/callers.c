/* Finds out who calls a function: only transactions, or others, too. All files of the compilation
 * database that contain its name are parsed. If the name occurs other than in a call, the callers
 * are unknown. */
#include <ctype.h>
#include <string.h>

#include "repair/tx/internal.h"

enum { DEPTH_MAX = 16 };

/* ---- files that contain the name ---- */

/* Returns the end of a comment, string or character that begins at p; p if none does. */
static const char *skip_text(const char *p)
{
	const char *end;
	char quote = *p;

	if (p[0] == '/' && (p[1] == '*' || p[1] == '/')) {
		end = strstr(p + 2, p[1] == '*' ? "*/" : "\n");
		return end ? end + (p[1] == '*' ? 2 : 1) : p + strlen(p);
	}
	if (quote != '"' && quote != '\'')
		return p;
	for (p++; *p && *p != quote && *p != '\n'; p++)
		p += *p == '\\' && p[1];
	return *p ? p + 1 : p;
}

/* Returns the end of a macro's definition with its continued lines, as only its uses matter; p if
 * none begins here. */
static const char *skip_macro(const char *text, const char *p)
{
	const char *word = p + 1;

	if (*p != '#' || (p > text && p[-1] != '\n'))
		return p;
	while (*word == ' ' || *word == '\t')
		word++;
	if (strncmp(word, "define", 6) != 0)
		return p;
	while (*p && (*p != '\n' || p[-1] == '\\'))
		p++;
	return p;
}

static size_t count_words(const char *text, const char *word)
{
	size_t n = 0, len = strlen(word);

	for (const char *p = text; *p;) {
		const char *behind = skip_text(skip_macro(text, p));
		size_t letters = 0;

		if (behind != p) {
			p = behind;
			continue;
		}
		while (isalnum((unsigned char)p[letters]) || p[letters] == '_')
			letters++;
		n += letters == len && strncmp(p, word, len) == 0;
		p += letters ? letters : 1;
	}
	return n;
}

static bool is_of_database(const struct repair *r, const char *path)
{
	for (size_t i = 0; i < r->code->db->n; i++)
		if (strcmp(r->code->db->files[i], path) == 0)
			return true;
	return false;
}

/* Asks whether the name is in the file, or in one that the file includes from its own folder. Files
 * included from elsewhere are taken to contain the name. */
static bool names_it(struct repair *r, const char *path, const char *name, unsigned depth)
{
	const struct file *in = file_open(r->code, path);
	const char *slash = strrchr(path, '/');

	if (!in || depth == 0 || strstr(in->text, name))
		return true;
	for (const char *p = in->text; (p = strstr(p, "#include \"")); p++) {
		const char *from = strchr(p, '"') + 1;

		if (names_it(r,
			     text_format(r->code, "%.*s/%.*s", (int)(slash - path), path,
					 (int)strcspn(from, "\"\n"), from),
			     name, depth - 1))
			return true;
	}
	return false;
}

/* Parses the files that may call the function: only its own if it is static and not in a header. */
static void open_units(struct repair *r, const struct source_function *f)
{
	bool is_shared = !is_of_database(r, f->file);
	const char *why;

	for (size_t i = 0; (is_shared || !f->is_static) && i < r->code->db->n; i++) {
		const struct file *in = file_open(r->code, r->code->db->files[i]);

		if (in && (strstr(in->text, f->name) ||
			   (is_shared && names_it(r, r->code->db->files[i], f->name, DEPTH_MAX))))
			unit_open(r->code, r->code->db->files[i], &why);
	}
}

/* ---- functions that need an open transaction ---- */

static bool needs_transaction(const struct source_node *call)
{
	static const char *const names[] = { "pmemobj_tx_add_",     "pmemobj_tx_xadd_",
					     "pmemobj_tx_alloc",    "pmemobj_tx_zalloc",
					     "pmemobj_tx_xalloc",   "pmemobj_tx_free",
					     "pmemobj_tx_xfree",    "pmemobj_tx_realloc",
					     "pmemobj_tx_zrealloc", "pmemobj_tx_strdup" };

	for (size_t i = 0;
	     call->kind == SOURCE_CALL && call->name && i < sizeof names / sizeof *names; i++)
		if (strncmp(call->name, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static bool is_always_done(const struct source_function *f, const struct source_node *n)
{
	for (; n != f->body; n = n->parent)
		if (n->kind == SOURCE_IF || n->kind == SOURCE_FOR || n->kind == SOURCE_WHILE ||
		    n->kind == SOURCE_SWITCH || n->kind == SOURCE_CONDITIONAL ||
		    n->kind == SOURCE_LAMBDA ||
		    (n->parent && n->parent->kind == SOURCE_BINARY && n != n->parent->child))
			return false;
	return true;
}

/* Asks whether the function always logs or allocates, and does not begin a transaction. Outside of
 * a transaction, it would end the program, so all its callers are in transactions. */
static bool is_part(struct repair *r, const struct source_unit *u, const struct source_function *f)
{
	const struct file *in = file_open(r->code, f->file);

	for (const struct source_node *n = f->body; in && n; n = node_next(n, f->body)) {
		if (n->kind == SOURCE_RETURN)
			return false; /* the function may return before */
		if (needs_transaction(n) && is_always_done(f, n) && !tx_is_in_work(u, in, f, n))
			return true;
	}
	return false;
}

/* ---- callers ---- */

struct asking {
	struct repair *r;
	const struct source_function *seen[DEPTH_MAX];
	size_t nseen;
};

static enum tx_callers callers_of(struct asking *a, struct source_unit *u,
				  const struct source_function *f, int parameter);

/* Asks whether the node runs in a transaction: a planned one, an existing one, or in a function
 * that only transactions call. */
static bool is_inside(struct asking *a, struct source_unit *u, const struct source_function *in,
		      const struct source_node *n)
{
	const struct file *f = file_open(a->r->code, in->file);

	if (f && tx_is_in_work(u, f, in, n))
		return true;
	for (size_t i = 0; i < a->r->tx->list.n; i++) {
		const struct tx *t = a->r->tx->list.at[i];

		if (!t->why && function_is_same(t->x.function, in) && tx_holds(t, n))
			return true;
	}
	for (size_t i = 0; i < a->nseen; i++)
		if (function_is_same(a->seen[i], in))
			return true; /* the other callers of that function decide */
	return callers_of(a, u, in, -1) == TX_ONLY_INSIDE;
}

static bool is_own(const struct source_node *argument)
{
	if (argument->kind == SOURCE_UNARY && argument->op[0] == '&')
		return argument->child && node_is_own_variable(argument->child);
	return argument->is_array && node_is_own_variable(argument);
}

/* Asks whether the call passes a local object, which is volatile, as this parameter. */
static bool passes_volatile(const struct source_node *call, int parameter)
{
	int i = 0;

	for (const struct source_node *a = call->child ? call->child->next : NULL; a;
	     a = a->next, i++)
		if (parameter == i && is_own(a))
			return true;
	return false;
}

static const struct source_node *call_by(const struct source_node *name)
{
	return name->parent && name->parent->kind == SOURCE_CALL && name->parent->child == name
		       ? name->parent
		       : NULL;
}

static bool is_named(const struct source_node *n, const struct source_function *f)
{
	return ((n->kind == SOURCE_NAME && !n->is_local) || n->kind == SOURCE_MEMBER) && n->name &&
	       strcmp(n->name, f->name) == 0;
}

/* Asks whether the unit is the first one that contains the function. A function in a header is in
 * several units; only the first one counts. */
static bool is_first_unit(struct repair *r, size_t unit, const struct source_function *in)
{
	if (strcmp(in->file, r->code->units.at[unit]->main_file) == 0)
		return true;
	for (size_t i = 0; i < unit; i++)
		for (size_t k = 0; k < r->code->units.at[i]->nfunctions; k++)
			if (r->code->units.at[i]->functions[k].body &&
			    function_is_same(&r->code->units.at[i]->functions[k], in))
				return false;
	return true;
}

/* Asks whether the unit contains the function. A static function of another unit is another
 * function. */
static bool is_known_in(const struct source_unit *u, const struct source_function *f)
{
	for (size_t i = 0; f->is_static && i < u->nfunctions; i++)
		if (u->functions[i].body && function_is_same(&u->functions[i], f))
			return true;
	return !f->is_static;
}

static size_t count_declarations(const struct repair *r, const struct source_function *f,
				 const char *file)
{
	for (size_t i = 0; i < r->code->units.n; i++) {
		const struct source_unit *u = r->code->units.at[i];
		size_t n = 0;

		for (size_t k = 0; k < u->nfunctions; k++)
			n += strcmp(u->functions[k].name, f->name) == 0 &&
			     strcmp(u->functions[k].file, file) == 0;
		if (n > 0)
			return n;
	}
	return 0;
}

/* Asks whether each occurrence of the name in the file is a call or a declaration that was looked
 * at. */
static bool is_followed(struct repair *r, const struct source_function *f, const char *path,
			size_t nseen)
{
	const struct file *in = file_open(r->code, path);

	return !in || count_words(in->text, f->name) == nseen + count_declarations(r, f, path);
}

static bool is_written(struct repair *r, const struct source_function *in,
		       const struct source_node *n)
{
	const struct file *f = file_open(r->code, in->file);
	size_t len = strlen(n->name);

	return f && n->text_end <= f->len_bytes && n->text_end >= n->text_begin + len &&
	       memcmp(f->text + n->text_end - len, n->name, len) == 0;
}

struct count {
	size_t ncalls, nothers, noutside, nvolatile;
	size_t nwritten; /* the name is in the source, and not made by a macro */
};

static void count_uses(struct asking *a, size_t unit, const struct source_function *f,
		       int parameter, const char *path, struct count *c)
{
	struct source_unit *u = a->r->code->units.at[unit];

	for (size_t k = 0; is_known_in(u, f) && k < u->nfunctions; k++) {
		const struct source_function *in = &u->functions[k];

		if (!in->body || (path && strcmp(in->file, path) != 0))
			continue;
		for (const struct source_node *n = in->body; n; n = node_next(n, in->body)) {
			if (!is_named(n, f) || !is_first_unit(a->r, unit, in))
				continue;
			c->ncalls += call_by(n) != NULL;
			c->nothers += !call_by(n);
			c->nwritten += is_written(a->r, in, n);
			if (path || !call_by(n))
				continue;
			c->noutside += !is_inside(a, u, in, n);
			c->nvolatile += passes_volatile(call_by(n), parameter);
		}
	}
}

static bool is_seen_whole(struct asking *a, const struct source_function *f)
{
	for (size_t i = 0; i <= a->r->code->db->n; i++) {
		const char *path = i < a->r->code->db->n ? a->r->code->db->files[i] : f->file;
		struct count c = { 0 };

		if (f->is_static && strcmp(path, f->file) != 0)
			continue;
		for (size_t k = 0; k < a->r->code->units.n; k++)
			count_uses(a, k, f, -1, path, &c);
		if (!is_followed(a->r, f, path, c.nwritten))
			return false;
	}
	return true;
}

static enum tx_callers callers_of(struct asking *a, struct source_unit *u,
				  const struct source_function *f, int parameter)
{
	struct count c = { 0 };

	if (parameter < 0 && is_part(a->r, u, f))
		return TX_ONLY_INSIDE;
	if (a->nseen == DEPTH_MAX || strcmp(f->name, "main") == 0)
		return TX_SOME_OUTSIDE;
	a->seen[a->nseen++] = f;
	open_units(a->r, f);
	for (size_t i = 0; i < a->r->code->units.n; i++)
		count_uses(a, i, f, parameter, NULL, &c);
	a->nseen--;
	if (c.noutside > 0)
		return TX_SOME_OUTSIDE;
	if (c.nvolatile > 0)
		return TX_SOME_VOLATILE;
	return c.ncalls > 0 && c.nothers == 0 && is_seen_whole(a, f) ? TX_ONLY_INSIDE
								     : TX_NOT_KNOWN;
}

static int parameter_named(const struct source_function *f, const char *name)
{
	for (size_t i = 0; name && i < f->nparameters; i++)
		if (f->parameters[i].name && f->parameters[i].is_pointer &&
		    strcmp(f->parameters[i].name, name) == 0)
			return (int)i;
	return -1;
}

/* Returns the number of the parameter that the variable is, or from which it was made; -1: none. */
static int parameter_behind(const struct source_function *f, const char *variable)
{
	int found = parameter_named(f, variable);

	for (const struct source_node *n = f->body; n && variable && found < 0;
	     n = node_next(n, f->body)) {
		bool is_made =
			(n->kind == SOURCE_VARIABLE && n->name && strcmp(n->name, variable) == 0) ||
			(node_is_assignment(n) && n->child && n->child->kind == SOURCE_NAME &&
			 n->child->name && strcmp(n->child->name, variable) == 0);

		for (const struct source_node *m = n; is_made && m && found < 0;
		     m = node_next(m, n))
			if (m->kind == SOURCE_NAME)
				found = parameter_named(f, m->name);
	}
	return found;
}

enum tx_callers tx_callers(struct repair *r, struct source_unit *u, const struct source_function *f,
			   const struct source_node *store)
{
	struct asking a = { .r = r };

	if (is_part(r, u, f))
		return TX_ONLY_INSIDE;
	return callers_of(&a, u, f, store ? parameter_behind(f, tx_base_of(store)) : -1);
}

const char *tx_callers_why(enum tx_callers c)
{
	switch (c) {
	case TX_ONLY_INSIDE: return "only transactions call it";
	case TX_SOME_OUTSIDE: return "it is called outside transactions, too";
	case TX_SOME_VOLATILE: return "it is called with volatile memory, too";
	case TX_NOT_KNOWN: return "not all of its callers are known";
	}
	return NULL;
}
