/* Finds the files of the compilation database that belong to the same program as the files of the
 * bugs. Two files are linked if one names what the other one defines, directly or through others.
 * Files that are not linked to a bug's file need not be compiled for the pointer analysis.
 *
 * Only the text is read. A file defines the words that it declares at file scope without `static`;
 * it uses all of its words. So too many files are linked rather than too few: a local variable with
 * the name of another file's function links the two. A file of C++ is linked with everything, and
 * so is one with a missing header or unbalanced braces. Names that macros paste together are
 * missed. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "repair/durability/internal.h"
#include "util/str.h"

enum { INCLUDES_MAX = 16 };

struct word {
	uint64_t hash;
	uint32_t file;
	bool is_defined;
};

struct linking {
	struct repair *r;
	VEC(struct word) words;
	VEC(const char *) headers; /* headers of the file that is being read */
	/* for each file, another file of its group, or itself (union-find) */
	uint32_t *linked_to;
	uint32_t file;   /* index of the file that is being read */
	bool is_unclear; /* the file's text is unclear, so it may name anything */
};

static uint32_t root_of(const struct linking *l, uint32_t i)
{
	while (l->linked_to[i] != i)
		i = l->linked_to[i];
	return i;
}

static void link_files(struct linking *l, uint32_t a, uint32_t b)
{
	a = root_of(l, a);
	b = root_of(l, b);
	l->linked_to[a > b ? a : b] = a < b ? a : b;
}

/* ---- words ---- */

static void add_word(struct linking *l, const char *text, size_t len, bool is_defined)
{
	uint64_t h = 14695981039346656037u;

	if (isdigit((unsigned char)*text) ||
	    (is_defined && len == 4 && memcmp(text, "main", 4) == 0))
		return;
	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 1099511628211u;
	*vec_add(&l->words) = (struct word){ h, l->file, is_defined };
}

/* Returns the end of a comment, string or character that begins at p; p if none does. */
static const char *skip_quoted(const char *p)
{
	char quote = *p;

	if (p[0] == '/' && p[1] == '/')
		return p + strcspn(p, "\n");
	if (p[0] == '/' && p[1] == '*') {
		const char *end = strstr(p + 2, "*/");

		return end ? end + 2 : p + strlen(p);
	}
	if (quote != '"' && quote != '\'')
		return p;
	for (p++; *p && *p != quote && *p != '\n'; p++)
		p += *p == '\\' && p[1];
	return p + (*p == quote);
}

/* State of reading a file, at one place of its text. */
struct scan {
	int depth, parens; /* open braces; open parentheses at file scope */
	size_t nwords;     /* words of the current declaration at file scope */
	bool is_own;       /* the declaration is static, a type, or extern */
	bool is_tag;       /* the next word is the name of a structure */
	bool is_function;  /* the function's name was read */
	bool is_macro, is_header;
};

static void read_header(struct linking *l, const struct file *by, const char *line, unsigned depth);

static bool is_one_of(const char *const *words, const char *p, size_t len)
{
	for (; *words; words++)
		if (strlen(*words) == len && memcmp(*words, p, len) == 0)
			return true;
	return false;
}

/* The word is an attribute, or a macro in its place (all upper case). */
static bool is_attribute(const char *p, size_t len)
{
	bool is_large = true;

	for (size_t i = 0; i < len; i++)
		is_large &= !islower((unsigned char)p[i]);
	return is_large || strncmp(p, "__", 2) == 0;
}

static void scan_word(struct linking *l, struct scan *s, const char *p, size_t len)
{
	static const char *const owns[] = { "static", "typedef", "extern", NULL }, *const tags[] = {
		"struct", "union", "enum", NULL
	};
	const char *next = p + len + strspn(p + len, " \t\r\n");
	bool is_scope = s->depth == 0 && s->parens == 0 && !s->is_macro,
	     is_called = is_scope && *next == '(' && s->nwords > 0 && !s->is_function &&
			 !is_attribute(p, len);

	s->is_own |= is_scope && is_one_of(owns, p, len);
	if (!s->is_own && ((is_called && !s->is_header) ||
			   (is_scope && !s->is_tag && *next && strchr("=;[,", *next))))
		add_word(l, p, len, true);
	s->is_function |= is_called;
	s->is_tag = is_scope ? is_one_of(tags, p, len) : s->is_tag;
	s->nwords += is_scope;
	if (!s->is_header || s->depth > 0 || s->is_macro)
		add_word(l, p, len, false);
}

static void scan_sign(struct scan *s, char c)
{
	s->depth += (c == '{') - (c == '}');
	s->parens += s->depth == 0 ? (c == '(') - (c == ')') : 0;
	if (s->depth == 0 && (c == ';' || (c == '}' && s->is_function)))
		*s = (struct scan){ .is_header = s->is_header };
}

/* Skips `extern "C" {`, which opens no scope. Its closing brace will be one too many. */
static const char *skip_linkage(const char *p, size_t *nlinkages)
{
	const char *q = p + 6 + strspn(p + 6, " \t\r\n");

	if (strncmp(p, "extern", 6) != 0 || strncmp(q, "\"C\"", 3) != 0)
		return p;
	q += 3 + strspn(q + 3, " \t\r\n");
	*nlinkages += *q == '{';
	return *q == '{' ? q + 1 : p;
}

static void read_text(struct linking *l, const struct file *f, bool is_header, unsigned depth)
{
	struct scan s = { .is_header = is_header };
	size_t nlinkages = 0;
	bool is_first = true; /* only blanks were read in this line */

	for (const char *p = f->text; *p;) {
		const char *behind = skip_quoted(p);
		size_t len = 0;

		if (behind != p) {
			p = behind;
			continue;
		}
		if (*p == '#' && is_first && !s.is_macro) {
			const char *word = p + 1 + strspn(p + 1, " \t");

			if (strncmp(word, "include", 7) == 0)
				read_header(l, f, word + 7, depth);
			s.is_macro = strncmp(word, "define", 6) == 0;
			p = s.is_macro ? word + 6 : p + strcspn(p, "\n");
			continue;
		}
		if (*p == '\n' && !(p > f->text && p[-1] == '\\'))
			s.is_macro = false;
		is_first = *p == '\n' || (is_first && isspace((unsigned char)*p));
		behind = skip_linkage(p, &nlinkages);
		if (behind != p) {
			p = behind;
			continue;
		}
		while (str_is_word_char(p[len]))
			len++;
		if (len > 0)
			scan_word(l, &s, p, len);
		else if (!s.is_macro && *p == '}' && s.depth == 0 && nlinkages > 0)
			nlinkages--;
		else if (!s.is_macro)
			scan_sign(&s, *p);
		p += len ? len : 1;
	}
	l->is_unclear |= s.depth != 0;
}

/* ---- files ---- */

/* Asks whether the file is C++ by its name. Headers count as C++, too. */
static bool is_cplusplus(const char *path)
{
	const char *dot = strrchr(path, '.');

	return !dot || strcmp(dot, ".c") != 0;
}

/* Opens a header as the compiler finds it: beside the file if its name is in quotes, or in one of
 * the command's include folders. NULL: it is not part of the program. */
static const struct file *find_header(struct linking *l, const struct file *by, const char *name,
				      bool is_quoted)
{
	const char *slash = strrchr(by->path, '/'), *folder = l->r->code->db->includes[l->file],
		   *found = NULL;
	char real[PATH_MAX];

	if (is_quoted &&
	    realpath(text_format(l->r->code, "%.*s/%s", (int)(slash - by->path), by->path, name),
		     real))
		found = real;
	for (; !found && *folder; folder += strcspn(folder, "\n") + 1)
		found = realpath(text_format(l->r->code, "%.*s/%s", (int)strcspn(folder, "\n"),
					     folder, name),
				 real)
				? real
				: NULL;
	return found ? file_open(l->r->code, found) : NULL;
}

/* Reads a header: the file that includes it uses all its words. */
static void read_header(struct linking *l, const struct file *by, const char *line, unsigned depth)
{
	const char *from = line + strspn(line, " \t");
	bool is_quoted = *from == '"';
	const char *name = text_copy(l->r->code, from + (*from != 0),
				     strcspn(from + (*from != 0), is_quoted ? "\"\n" : ">\n"));
	const struct file *f =
		is_quoted || *from == '<' ? find_header(l, by, name, is_quoted) : NULL;

	l->is_unclear |= depth == 0 || (!f && *from != '<');
	for (size_t k = 0; f && k < l->headers.n; k++)
		if (l->headers.at[k] == f->path)
			return;
	if (!f || depth == 0)
		return;
	*vec_add(&l->headers) = f->path;
	read_text(l, f, is_cplusplus(name), depth - 1);
}

static int by_hash(const void *a, const void *b)
{
	const struct word *x = a, *y = b;

	return x->hash != y->hash   ? (x->hash > y->hash) - (x->hash < y->hash)
	       : x->file != y->file ? (x->file > y->file) - (x->file < y->file)
				    : y->is_defined - x->is_defined;
}

/* Sorts the words of a file and keeps each once. */
static void sort_words(struct linking *l, size_t from)
{
	struct word *w = l->words.at;
	size_t n = from;

	if (l->words.n == from)
		return;
	qsort(w + from, l->words.n - from, sizeof *w, by_hash);
	for (size_t i = from; i < l->words.n; i++)
		if (n == from || w[n - 1].hash != w[i].hash || w[n - 1].file != w[i].file)
			w[n++] = w[i];
	l->words.n = n;
}

static void read_files(struct linking *l)
{
	const struct source_database *db = l->r->code->db;

	for (uint32_t i = 0; i < db->n; i++) {
		const struct file *f = file_open(l->r->code, db->files[i]);
		size_t before = l->words.n;

		l->file = i;
		l->headers.n = 0;
		l->is_unclear = !f || is_cplusplus(db->files[i]);
		if (f && !l->is_unclear)
			read_text(l, f, false, INCLUDES_MAX);
		sort_words(l, before);
		for (uint32_t k = 0; l->is_unclear && k < db->n; k++)
			link_files(l, i, k);
	}
}

static void link_words(struct linking *l)
{
	for (size_t i = 0, end; i < l->words.n; i = end) {
		bool is_defined = false;

		for (end = i; end < l->words.n && l->words.at[end].hash == l->words.at[i].hash;
		     end++)
			is_defined |= l->words.at[end].is_defined;
		for (size_t k = i + 1; is_defined && k < end; k++)
			link_files(l, l->words.at[i].file, l->words.at[k].file);
	}
}

/* ---- files of the bugs ---- */

static void mark(const struct linking *l, const char *path, bool *is_wanted)
{
	const struct source_database *db = l->r->code->db;

	for (uint32_t i = 0; path && i < db->n; i++)
		if (strcmp(db->files[i], path) == 0)
			is_wanted[root_of(l, i)] = true;
}

static void mark_bugs(struct linking *l, bool *is_wanted)
{
	VEC(const char *) seen = { 0 };
	struct repair *r = l->r;

	for (size_t i = 0; i < r->fixes.n; i++) {
		const struct repair_place *p = r->fixes.at[i].place;

		mark(l, r->fixes.at[i].unit->main_file, is_wanted);
		for (size_t k = 0; p && k < p->nframes; k++) {
			bool is_new = p->frames[k].file != NULL;

			for (size_t n = 0; is_new && n < seen.n; n++)
				is_new = strcmp(seen.at[n], p->frames[k].file) != 0;
			if (!is_new)
				continue;
			*vec_add(&seen) = p->frames[k].file;
			mark(l, file_resolve(r->code, p->frames[k].file), is_wanted);
		}
	}
	vec_release(&seen);
}

struct source_database relevant_files(struct repair *r)
{
	const struct source_database *db = r->code->db;
	struct source_database out = {
		.files = arena_alloc(&r->code->arena, (db->n + 1) * sizeof *out.files),
		.directories = arena_alloc(&r->code->arena, (db->n + 1) * sizeof *out.directories),
		.includes = arena_alloc(&r->code->arena, (db->n + 1) * sizeof *out.includes),
		.commands = db->commands
	};
	struct linking l = {
		.r = r, .linked_to = arena_alloc(&r->code->arena, (db->n + 1) * sizeof *l.linked_to)
	};
	bool *is_wanted = xcalloc(db->n + 1, sizeof *is_wanted);

	for (uint32_t i = 0; i < db->n; i++)
		l.linked_to[i] = i;
	read_files(&l);
	if (l.words.n)
		qsort(l.words.at, l.words.n, sizeof *l.words.at, by_hash);
	link_words(&l);
	mark_bugs(&l, is_wanted);
	for (uint32_t i = 0; i < db->n; i++)
		if (is_wanted[root_of(&l, i)]) {
			out.files[out.n] = db->files[i];
			out.directories[out.n] = db->directories[i];
			out.includes[out.n++] = db->includes[i];
		}
	vec_release(&l.words);
	vec_release(&l.headers);
	free(is_wanted);
	return out;
}
