/* Says which --library would name better lines, if most performance findings lie in functions that
 * flush for others: one finding there has many call paths, and none of them is a finding's line. A
 * function counts if no caller is in its own file, because --library names files. */
#include <string.h>

#include "report/internal.h"

enum { PATHS_LEAST = 3 };

static bool is_of_flush(const struct bug *b)
{
	const char *role = b->nlocations ? b->locations[0].role : NULL;

	return role && (strcmp(role, "flush") == 0 || strcmp(role, "fence") == 0);
}

static bool is_of_file(const struct bug_frame *f, const char *file)
{
	return f && f->file && strcmp(f->file, file) == 0;
}

/* Is no caller of the shown function in its file? */
static bool has_outer_callers(const struct bug *b, const char *file)
{
	for (size_t i = 0; i < b->npaths; i++) {
		const struct bug_location *l = &b->paths[i].locations[0];

		if (l->shown + 1 >= l->nframes || is_of_file(&l->frames[l->shown + 1], file))
			return false;
	}
	return true;
}

/* Gives the file of the wrapper (a function that flushes for others) in which the finding lies;
 * NULL: it lies in none. */
static const char *wrapper_of(const struct bug *b)
{
	const struct bug_frame *f = bug_frame(b);
	const bool is_one = b->severity == BUG_PERFORMANCE && !b->library && is_of_flush(b) && f &&
			    f->file && f->line && f->function && b->npaths >= PATHS_LEAST &&
			    has_outer_callers(b, f->file);

	return is_one ? f->file : NULL;
}

/* Does a bug lie in this file? Its line would not be named any more. */
static bool has_bug(const struct report *r, const char *file)
{
	for (size_t i = 0; i < report_nbugs(r); i++)
		if (report_bug(r, i)->severity == BUG_CORRECTNESS &&
		    is_of_file(bug_frame(report_bug(r, i)), file))
			return true;
	return false;
}

/* Adds the option --library for a file's name, unless `options` has it already. */
static char *add_option(char *options, const char *file)
{
	char *option = xasprintf("--library '%s'", path_base(file)), *longer;

	if (options && strstr(options, option)) {
		free(option);
		return options;
	}
	longer = xasprintf("%s%s%s", options ? options : "", options ? " " : "", option);
	free(option);
	free(options);
	return longer;
}

char *wrappers_text(const struct report *r)
{
	size_t nall = 0, nwrapped = 0, npaths = 0;
	char *options = NULL, *text;

	for (size_t i = 0; i < report_nbugs(r); i++) {
		const struct bug *b = report_bug(r, i);
		const char *file = wrapper_of(b);

		nall += b->severity == BUG_PERFORMANCE;
		if (!file || has_bug(r, file))
			continue;
		nwrapped++;
		npaths += b->npaths;
		options = add_option(options, file);
	}
	if (2 * nwrapped <= nall) {
		free(options);
		return NULL;
	}
	text = xasprintf(
		"%zu of %zu performance notes lie%s in functions that flush for their callers, on %zu call paths: %s names the lines that call them",
		nwrapped, nall, nwrapped == 1 ? "s" : "", npaths, options);
	free(options);
	return text;
}
