/* Reads one translation unit with libclang, the way the compilation database says, and copies what others need. */
#include "source/clang/unit.h"

#include <clang-c/CXCompilationDatabase.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>


const char *unit_string(struct unit *u, CXString s)
{
	const char *text = clang_getCString(s);
	const char *copy = text && *text ? arena_text(&u->arena, text) : NULL;

	clang_disposeString(s);
	return copy;
}

static const char *absolute(struct unit *u, CXString name)
{
	char real[PATH_MAX];
	const char *path = unit_string(u, name);

	return path && realpath(path, real) ? arena_text(&u->arena, real) : path;
}

struct unit_text *unit_text(struct unit *u, CXFile file)
{
	struct unit_text *t;

	if (!file)
		return NULL;
	for (size_t i = 0; i < u->texts.n; i++)
		if (clang_File_isEqual(u->texts.at[i]->file, file))
			return u->texts.at[i];
	t = arena_alloc(&u->arena, sizeof *t);
	*t = (struct unit_text){ .file = file, .path = absolute(u, clang_getFileName(file)) };
	t->bytes = clang_getFileContents(u->tu, file, &t->len_bytes);
	*vec_add(&u->texts) = t;
	return t;
}

struct unit_text *unit_extent(struct unit *u, CXCursor c, uint32_t *begin, uint32_t *end)
{
	CXSourceRange range = clang_getCursorExtent(c);
	CXFile first = NULL, last = NULL;
	unsigned from = 0, to = 0;

	clang_getExpansionLocation(clang_getRangeStart(range), &first, NULL, NULL, &from);
	clang_getExpansionLocation(clang_getRangeEnd(range), &last, NULL, NULL, &to);
	*begin = from;
	*end = to;
	return clang_File_isEqual(first, last) && from <= to ? unit_text(u, first) : NULL;
}

/* ---- declarations ---- */

static void add_parameters(struct unit *u, CXCursor c, struct source_function *f)
{
	int n = clang_Cursor_getNumArguments(c);

	f->nparameters = n > 0 ? (size_t)n : 0;
	f->parameters = arena_alloc(&u->arena, (f->nparameters + 1) * sizeof *f->parameters);
	for (int i = 0; i < n; i++) {
		CXCursor p = clang_Cursor_getArgument(c, (unsigned)i);
		CXType type = clang_getCanonicalType(clang_getCursorType(p));

		f->parameters[i] = (struct source_parameter){
			.name = unit_string(u, clang_getCursorSpelling(p)),
			.type = unit_string(u, clang_getTypeSpelling(clang_getCursorType(p))),
			.target_bytes = type_target_bytes(type),
			.is_pointer = type.kind == CXType_Pointer || clang_getArrayElementType(type).kind != CXType_Invalid,
			.is_integer = type.kind >= CXType_Bool && type.kind <= CXType_Int128,
		};
	}
}

static enum CXChildVisitResult find_body(CXCursor c, CXCursor parent, CXClientData data)
{
	(void)parent;
	if (clang_getCursorKind(c) == CXCursor_CompoundStmt)
		*(CXCursor *)data = c;
	return CXChildVisit_Continue;
}

static uint32_t line_of(CXCursor c, bool is_end)
{
	CXSourceRange range = clang_getCursorExtent(c);
	unsigned line = 0;

	clang_getExpansionLocation(is_end ? clang_getRangeEnd(range) : clang_getRangeStart(range), NULL, &line, NULL, NULL);
	return line;
}

static void add_function(struct unit *u, CXCursor c)
{
	struct source_function f = { .name = unit_string(u, clang_getCursorSpelling(c)) };
	struct unit_text *t = unit_extent(u, c, &f.begin, &f.end);
	CXCursor body = clang_getNullCursor();

	if (!t || !f.name)
		return;
	f.file = t->path;
	f.line = line_of(c, false);
	f.end_line = line_of(c, true);
	f.is_system = clang_Location_isInSystemHeader(clang_getCursorLocation(c)) != 0;
	f.is_variadic = clang_Cursor_isVariadic(c) != 0;
	f.is_static = clang_getCursorLinkage(c) == CXLinkage_Internal;
	f.returns_void = clang_getCanonicalType(clang_getCursorResultType(c)).kind == CXType_Void;
	add_parameters(u, c, &f);
	if (!f.is_system && clang_isCursorDefinition(c)) {
		clang_visitChildren(c, find_body, &body);
		if (!clang_Cursor_isNull(body))
			f.body = tree_copy(u, body);
	}
	*vec_add(&u->functions) = f;
}

static void add_macro(struct unit *u, CXCursor c)
{
	struct source_macro m = { .name = unit_string(u, clang_getCursorSpelling(c)) };
	uint32_t end;
	struct unit_text *t = unit_extent(u, c, &m.begin, &end);

	if (!t || !m.name || !t->bytes || clang_Cursor_isMacroBuiltin(c) || end > t->len_bytes)
		return;
	m.file = t->path;
	m.text = arena_string(&u->arena, t->bytes + m.begin, end - m.begin);
	m.is_function = clang_Cursor_isMacroFunctionLike(c) != 0;
	m.is_system = clang_Location_isInSystemHeader(clang_getCursorLocation(c)) != 0;
	*vec_add(&u->macros) = m;
}

static void add_use(struct unit *u, CXCursor c)
{
	struct source_use use = { .name = unit_string(u, clang_getCursorSpelling(c)) };
	struct unit_text *t = unit_extent(u, c, &use.begin, &use.end);

	if (!t || !use.name || clang_Location_isInSystemHeader(clang_getCursorLocation(c)))
		return;
	use.file = t->path;
	*vec_add(&u->uses) = use;
}

static enum CXChildVisitResult visit_top(CXCursor c, CXCursor parent, CXClientData data)
{
	struct unit *u = data;

	(void)parent;
	switch ((int)clang_getCursorKind(c)) {
	case CXCursor_FunctionDecl:
	case CXCursor_CXXMethod:
	case CXCursor_Constructor:
	case CXCursor_Destructor:
	case CXCursor_FunctionTemplate: add_function(u, c); break;
	case CXCursor_MacroDefinition: add_macro(u, c); break;
	case CXCursor_MacroExpansion: add_use(u, c); break;
	case CXCursor_Namespace:
	case CXCursor_LinkageSpec:
	case CXCursor_UnexposedDecl: /* extern "C", in libclang 14 */
	case CXCursor_StructDecl:
	case CXCursor_ClassDecl:
	case CXCursor_ClassTemplate: return CXChildVisit_Recurse;
	default: break; /* nothing in it that is executed */
	}
	return CXChildVisit_Continue;
}

/* ---- the compilation database ---- */

static CXCompilationDatabase database_load(const char *build_dir, struct error *err)
{
	CXCompilationDatabase_Error why = CXCompilationDatabase_CanNotLoadDatabase;
	char *path = xasprintf("%s/compile_commands.json", build_dir);
	/* libclang would print an error of its own */
	CXCompilationDatabase db = access(path, R_OK) == 0 ? clang_CompilationDatabase_fromDirectory(build_dir, &why) : NULL;

	free(path);
	if (why != CXCompilationDatabase_NoError) {
		error_set(err, "there is no compile_commands.json in %s; make one with 'bear -- make' (Debian's bear) or "
			       "CMake's -DCMAKE_EXPORT_COMPILE_COMMANDS=ON", build_dir);
		return NULL;
	}
	return db;
}

/* realpath(directory/name), malloc'd. */
static char *command_path(CXString directory, CXString name)
{
	const char *d = clang_getCString(directory), *f = clang_getCString(name);
	char *path = f[0] == '/' ? xstrdup(f) : xasprintf("%s/%s", d, f), *real = realpath(path, NULL);

	clang_disposeString(directory);
	clang_disposeString(name);
	if (!real)
		return path;
	free(path);
	return real;
}

int database_open(const char *build_dir, struct source_database *out, struct error *err)
{
	CXCompilationDatabase db = database_load(build_dir, err);
	CXCompileCommands all;

	if (!db)
		return -1;
	all = clang_CompilationDatabase_getAllCompileCommands(db);
	*out = (struct source_database){ .n = clang_CompileCommands_getSize(all) };
	out->files = xcalloc(out->n + 1, sizeof *out->files);
	out->directories = xcalloc(out->n + 1, sizeof *out->directories);
	for (size_t i = 0; i < out->n; i++) {
		CXCompileCommand c = clang_CompileCommands_getCommand(all, (unsigned)i);
		CXString directory = clang_CompileCommand_getDirectory(c);

		out->directories[i] = xstrdup(clang_getCString(directory));
		clang_disposeString(directory);
		out->files[i] = command_path(clang_CompileCommand_getDirectory(c), clang_CompileCommand_getFilename(c));
	}
	clang_CompileCommands_dispose(all);
	clang_CompilationDatabase_dispose(db);
	return 0;
}

void database_close(struct source_database *db)
{
	for (size_t i = 0; i < db->n; i++) {
		free((char *)db->files[i]);
		free((char *)db->directories[i]);
	}
	free(db->files);
	free(db->directories);
}

/* Options by which other files would be written, dependencies above all; some are followed by a name. */
static bool is_output_option(const char *arg, bool *takes_next)
{
	static const char *const with_next[] = { "-MF", "-MT", "-MQ", "-MJ" };
	static const char *const alone[] = { "-M", "-MM", "-MD", "-MMD", "-MP", "-MG", "-save-temps", "-gsplit-dwarf", "--coverage" };

	*takes_next = false;
	for (size_t i = 0; i < sizeof with_next / sizeof with_next[0]; i++)
		if (strncmp(arg, with_next[i], 3) == 0) {
			*takes_next = arg[3] == 0;
			return true;
		}
	for (size_t i = 0; i < sizeof alone / sizeof alone[0]; i++)
		if (strcmp(arg, alone[i]) == 0)
			return true;
	return strncmp(arg, "-Wp,-M", 6) == 0 || strncmp(arg, "-fprofile", 9) == 0 || strncmp(arg, "-save-temps=", 12) == 0 ||
	       strncmp(arg, "-fsanitize", 10) == 0;
}

int unit_arguments(struct unit *u, const char *build_dir, const char *file, char ***argv, int *argc, struct error *err)
{
	CXCompilationDatabase db = database_load(build_dir, err);
	CXCompileCommands all;
	unsigned found = UINT_MAX;

	if (!db)
		return -1;
	all = clang_CompilationDatabase_getAllCompileCommands(db);
	for (unsigned i = 0; i < clang_CompileCommands_getSize(all) && found == UINT_MAX; i++) {
		CXCompileCommand c = clang_CompileCommands_getCommand(all, i);
		char *path = command_path(clang_CompileCommand_getDirectory(c), clang_CompileCommand_getFilename(c));

		if (strcmp(path, file) == 0)
			found = i;
		free(path);
	}
	if (found != UINT_MAX) {
		CXCompileCommand c = clang_CompileCommands_getCommand(all, found);
		unsigned n = clang_CompileCommand_getNumArgs(c);

		u->unit.directory = unit_string(u, clang_CompileCommand_getDirectory(c));
		*argv = arena_alloc(&u->arena, (n + 4) * sizeof **argv);
		for (unsigned i = 1; i < n; i++) {
			const char *arg = unit_string(u, clang_CompileCommand_getArg(c, i));
			char *path = arg && arg[0] != '-' ? command_path(clang_CompileCommand_getDirectory(c),
									 clang_CompileCommand_getArg(c, i)) : NULL;
			bool takes_next = false;

			if (arg && (strcmp(arg, "-o") == 0 || (is_output_option(arg, &takes_next) && takes_next)))
				i++;
			else if (arg && !is_output_option(arg, &takes_next) && strcmp(arg, "-c") != 0 && strcmp(arg, "--") != 0 && !(path && strcmp(path, file) == 0) &&
				 !(path && i + 1 == n))
				(*argv)[(*argc)++] = (char *)arg;
			free(path);
		}
	}
	clang_CompileCommands_dispose(all);
	clang_CompilationDatabase_dispose(db);
	return found != UINT_MAX ? 0 : error_set(err, "%s is not in the compile_commands.json of %s", file, build_dir);
}

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
	char **argv = NULL, *here = realpath(".", NULL);
	int argc = 0, result = -1;

	if (unit_arguments(u, build_dir, file, &argv, &argc, err) < 0)
		goto out;
#ifdef CLANG_RESOURCE_DIR
	argv[argc++] = "-resource-dir";
	argv[argc++] = CLANG_RESOURCE_DIR;
#endif
	if (u->unit.directory && chdir(u->unit.directory) < 0) {
		error_set(err, "cannot go to %s, where %s is compiled", u->unit.directory, file);
		goto out;
	}
	u->tu = clang_parseTranslationUnit(index, file, (const char *const *)argv, argc, NULL, 0, options);
	if (!u->tu)
		error_set(err, "libclang cannot read %s", file);
	else if (options == 0)
		result = 0;
	else if (check_errors(u, file, err) == 0) {
		clang_visitChildren(clang_getTranslationUnitCursor(u->tu), visit_top, u);
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
