/* Reads one translation unit with libclang as the compilation database says, and copies what others
 * need. The process changes into the folder of the compilation, because relative paths start there,
 * and comes back. */
#include "source/clang/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/clang/database.h"
#include "source/clang/llvm.h"

/* What happens with a unit after it was read. */
enum reading {
	READ_ONLY,   /* errors are ignored */
	READ_CHECK,  /* errors count */
	READ_STRICT, /* errors and calls of undeclared functions count */
	READ_COPY,   /* errors count, and the declarations are copied */
};

/* Asks whether the message is the warning about an undeclared function. It is only a warning in C,
 * but the program may not link or may misbehave. */
static bool is_undeclared(CXDiagnostic d)
{
	CXString option = clang_getDiagnosticOption(d, NULL);
	const char *text = clang_getCString(option);
	bool is = text && strcmp(text, "-Wimplicit-function-declaration") == 0;

	clang_disposeString(option);
	return is;
}

/* Fails if the unit has errors: an error may hide part of the tree. */
static int check_errors(struct unit *u, const char *file, enum reading reading, struct error *err)
{
	int result = 0;

	for (unsigned i = 0; i < clang_getNumDiagnostics(u->tu) && result == 0; i++) {
		CXDiagnostic d = clang_getDiagnostic(u->tu, i);

		if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error ||
		    (reading == READ_STRICT && is_undeclared(d))) {
			CXString text =
				clang_formatDiagnostic(d, CXDiagnostic_DisplaySourceLocation);

			result = reading != READ_COPY
					 ? error_set(err, "%s", clang_getCString(text))
					 : error_set(err, "%s cannot be read as it is compiled: %s",
						     file, clang_getCString(text));
			clang_disposeString(text);
		}
		clang_disposeDiagnostic(d);
	}
	return result;
}

typedef VEC(struct CXUnsavedFile) changes;

static void changes_of(const struct source_text *changed, size_t n, changes *out)
{
	for (size_t i = 0; i < n; i++)
		*vec_add(out) = (struct CXUnsavedFile){ changed[i].path, changed[i].text,
							changed[i].len_bytes };
}

static int parse_into(struct unit *u, CXIndex index, const struct source_commands *commands,
		      const char *file, const changes *changed, enum reading reading,
		      struct error *err)
{
	struct database_command c;
	char *here = realpath(".", NULL);
	int result = -1;

	if (commands_find(commands, file, &u->arena, &c, err) < 0)
		goto out;
	u->unit.directory = c.directory;
	if (llvm_resources()) {
		c.argv[c.argc++] = "-resource-dir";
		c.argv[c.argc++] = (char *)llvm_resources();
	}
	if (u->unit.directory && chdir(u->unit.directory) < 0) {
		error_set(err, "cannot go to %s, where %s is compiled", u->unit.directory, file);
		goto out;
	}
	u->tu = clang_parseTranslationUnit(
		index, file, (const char *const *)c.argv, c.argc, changed->at, (unsigned)changed->n,
		reading == READ_COPY ? CXTranslationUnit_DetailedPreprocessingRecord : 0);
	if (!u->tu)
		error_set(err, "libclang cannot read %s", file);
	else
		result = reading == READ_ONLY ? 0 : check_errors(u, file, reading, err);
	if (result == 0 && reading == READ_COPY)
		declarations_copy(u);
	if (here && chdir(here) < 0)
		result = error_set(err, "cannot go back to %s", here);
out:
	free(here);
	return result;
}

void unit_release(struct source_unit *unit)
{
	struct unit *u = (struct unit *)unit;

	vec_release(&u->texts);
	vec_release(&u->functions);
	vec_release(&u->macros);
	vec_release(&u->uses);
	arena_release(&u->arena);
	free(u);
}

static bool is_cplusplus(const char *file)
{
	const char *dot = strrchr(file, '.');

	return dot && strcmp(dot, ".c") != 0 && strcmp(dot, ".h") != 0;
}

struct source_unit *unit_parse(const struct source_database *db, const char *file,
			       const struct source_text *changed, size_t nchanged,
			       struct error *err)
{
	struct unit *u = xcalloc(1, sizeof *u);
	CXIndex index = clang_createIndex(0, 0);
	changes files = { 0 };
	int result;

	changes_of(changed, nchanged, &files);
	result = parse_into(u, index, db->commands, file, &files, READ_COPY, err);
	if (u->tu)
		clang_disposeTranslationUnit(u->tu);
	clang_disposeIndex(index);
	vec_release(&files);
	if (result < 0) {
		unit_release(&u->unit);
		return NULL;
	}
	u->unit.main_file = arena_text(&u->arena, file);
	u->unit.is_cplusplus = is_cplusplus(file);
	u->unit.functions = u->functions.at;
	u->unit.nfunctions = u->functions.n;
	u->unit.macros = u->macros.at;
	u->unit.nmacros = u->macros.n;
	u->unit.uses = u->uses.at;
	u->unit.nuses = u->uses.n;
	return &u->unit;
}

struct unit *unit_open(CXIndex index, const struct source_commands *commands, const char *file,
		       struct error *err)
{
	struct unit *u = xcalloc(1, sizeof *u);
	const changes none = { 0 };

	if (parse_into(u, index, commands, file, &none, READ_ONLY, err) == 0)
		return u;
	unit_release(&u->unit);
	return NULL;
}

void unit_close(struct unit *u)
{
	clang_disposeTranslationUnit(u->tu);
	unit_release(&u->unit);
}

int unit_compiles(const struct source_database *db, const char *file,
		  const struct source_text *changed, size_t nchanged, bool is_strict,
		  struct error *err)
{
	struct unit *u = xcalloc(1, sizeof *u);
	CXIndex index = clang_createIndex(0, 0);
	changes files = { 0 };
	int result;

	changes_of(changed, nchanged, &files);
	result = parse_into(u, index, db->commands, file, &files,
			    is_strict ? READ_STRICT : READ_CHECK, err);
	if (u->tu)
		clang_disposeTranslationUnit(u->tu);
	clang_disposeIndex(index);
	unit_release(&u->unit);
	vec_release(&files);
	return result;
}
