/* Shows a unified diff from `pmend fix`: as a whole, and its hunks next to findings. A hunk belongs
 * to a finding if it changes a file of the same name at most HUNK_NEAR lines from one of the
 * finding's places. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/html/html.h"

#define HUNK_NEAR 15u
#define PATCH_SHOWN_BYTES ((size_t)256 << 10)
#define HUNKS_SHOWN 8u

static size_t line_len(const char *s)
{
	return strcspn(s, "\n");
}

static const char *next_line(const char *s)
{
	s += line_len(s);
	return *s ? s + 1 : s;
}

static void put_diff_line(const struct page *p, const char *line)
{
	size_t len = line_len(line);
	const char *class = strncmp(line, "+++", 3) == 0 || strncmp(line, "---", 3) == 0 ? "h"
			    : *line == '+'                                               ? "add"
			    : *line == '-'                                               ? "del"
			    : strncmp(line, "@@", 2) == 0                                ? "h"
											 : NULL;

	if (class)
		fprintf(p->f, "<span class=\"%s\">", class);
	escape_html(p->f, line, len < 1000 ? len : 1000);
	fputs(class ? "\n</span>" : "\n", p->f);
}

void put_patch(const struct page *p)
{
	const char *line = p->patch;

	if (!line)
		return;
	fputs("<section class=\"coverage\">\n<h2>The fix</h2>\n<details><summary>The whole patch</summary>\n<pre class=\"diff\" tabindex=\"0\">",
	      p->f);
	for (; *line && line < p->patch + PATCH_SHOWN_BYTES; line = next_line(line))
		put_diff_line(p, line);
	if (*line)
		fputs("<span class=\"cut\">… the patch is longer</span>", p->f);
	fputs("</pre></details></section>\n", p->f);
}

/* Gives the file name without folders in a line "+++ b/dir/file.c\t2026-…". */
static const char *name_of(const char *line, size_t *len)
{
	const char *name = line + 4;

	*len = strcspn(name, "\t\n");
	for (size_t i = *len; i > 0; i--)
		if (name[i - 1] == '/') {
			*len -= i;
			return name + i;
		}
	return name;
}

static bool is_near(const struct bug *b, const char *name, size_t len, uint32_t first,
		    uint32_t count)
{
	for (size_t i = 0; i < b->nlocations; i++) {
		const struct bug_frame *f = bug_location_frame(&b->locations[i]);
		const char *base = f && f->file ? path_base(f->file) : "";

		if (strlen(base) == len && memcmp(base, name, len) == 0 &&
		    f->line + HUNK_NEAR >= first && f->line <= (uint64_t)first + count + HUNK_NEAR)
			return true;
	}
	return false;
}

void put_patch_of(const struct page *p, const struct bug *b)
{
	const char *name = "";
	size_t len = 0, nshown = 0;
	bool is_shown = false;

	for (const char *line = p->patch; line && *line; line = next_line(line)) {
		unsigned first, count = 1;

		if (strncmp(line, "+++ ", 4) == 0 || strncmp(line, "--- ", 4) == 0 ||
		    strncmp(line, "diff ", 5) == 0) {
			is_shown = false;
			if (*line == '+')
				name = name_of(line, &len);
			continue;
		}
		if (sscanf(line, "@@ -%u,%u ", &first, &count) >= 1) {
			is_shown = nshown < HUNKS_SHOWN && is_near(b, name, len, first, count);
			if (is_shown && nshown++ == 0)
				fputs("<h3>Fix</h3>\n<pre class=\"diff\" tabindex=\"0\">", p->f);
		}
		if (is_shown)
			put_diff_line(p, line);
	}
	if (nshown)
		fputs("</pre>\n", p->f);
}
