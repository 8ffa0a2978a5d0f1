/* Reads one translation unit with libclang, the way the compilation database says, and copies what others need. Relative paths are those of the folder
 * in which the file is compiled, so the process goes there and comes back. */
#include "source/clang/unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/clang/database.h"

/* An error may hide part of the tree: then nothing is known for sure. */
static int check_errors(struct unit *u, const char *file, struct error *err)
{
	int result = 0;

	for (unsigned i = 0; i < clang_getNumDiagnostics(u->tu) && result == 0; i++) {
		CXDiagnostic d = clang_getDiagnostic(u->tu, i);

		if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error) {
			CXString text = clang_formatDiagnostic(d, CXDiagnostic_DisplaySourceLocation);

			result = error_set(err, "%s cannot be read as it is compiled: %s", file, clang_getCString(text));
			clang_disposeString(text);
		}
		clang_disposeDiagnostic(d);
	}
	return result;
}

/* Without options, only u->tu is filled: errors are borne, nothing is copied. */
static int parse_into(struct unit *u, CXIndex index, const char *build_dir, const char *file, unsigned options, struct error *err)
{
	struct database_command c;
	char *here = realpath(".", NULL);
	int result = -1;

	if (database_command(build_dir, file, &u->arena, &c, err) < 0)
		goto out;
	u->unit.directory = c.directory;
#ifdef CLANG_RESOURCE_DIR
	c.argv[c.argc++] = "-resource-dir";
	c.argv[c.argc++] = CLANG_RESOURCE_DIR;
#endif
	if (u->unit.directory && chdir(u->unit.directory) < 0) {
		error_set(err, "cannot go to %s, where %s is compiled", u->unit.directory, file);
		goto out;
	}
	u->tu = clang_parseTranslationUnit(index, file, (const char *const *)c.argv, c.argc, NULL, 0, options);
	if (!u->tu)
		error_set(err, "libclang cannot read %s", file);
	else if (options == 0)
		result = 0;
	else if (check_errors(u, file, err) == 0) {
		declarations_copy(u);
		result = 0;
	}
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

struct source_unit *unit_parse(const char *build_dir, const char *file, struct error *err)
{
	struct unit *u = xcalloc(1, sizeof *u);
	CXIndex index = clang_createIndex(0, 0);
	int result = parse_into(u, index, build_dir, file, CXTranslationUnit_DetailedPreprocessingRecord, err);

	if (u->tu)
		clang_disposeTranslationUnit(u->tu);
	clang_disposeIndex(index);
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

struct unit *unit_open(CXIndex index, const char *build_dir, const char *file, struct error *err)
{
	struct unit *u = xcalloc(1, sizeof *u);

	if (parse_into(u, index, build_dir, file, 0, err) == 0)
		return u;
	unit_release(&u->unit);
	return NULL;
}

void unit_close(struct unit *u)
{
	clang_disposeTranslationUnit(u->tu);
	unit_release(&u->unit);
}
