/* The table of report formats, by the names that --format takes. A new one is a file and a row
 * here. */
#include "report/format.h"

#include <string.h>

const struct report_format report_formats[] = {
	{ "text", "for people: source lines, stacks, what to do", report_text, NULL },
	{ "json", "for programs, and for --baseline and fix", report_json, NULL },
	{ "sarif", "SARIF 2.1.0, for code scanning services and editors", report_sarif, NULL },
	{ "html", "one self-contained page", report_html, NULL },
	{ "junit", "JUnit's XML, for test runners", report_junit, "xml" },
	{ 0 },
};

const struct report_format *report_format_find(const char *name)
{
	const struct report_format *f;

	for (f = report_formats; f->name; f++)
		if (strcmp(f->name, name) == 0)
			return f;
	return NULL;
}

const char *report_format_of(const char *path)
{
	const char *dot = path ? strrchr(path, '.') : NULL;
	const struct report_format *f = report_formats;

	while (dot && f->name && strcmp(f->extension ? f->extension : f->name, dot + 1) != 0)
		f++;
	return dot ? f->name : NULL;
}
