/* Finds the addresses that belong to source lines, in the DWARF line tables of an object. Files are
 * compared by their real paths. */
#include "explore/graph/lines.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/files.h"

void lines_add(struct lines *l, const char *file, uint32_t line)
{
	char *name = path_real_or_same(file);

	for (size_t i = 0; i < l->list.n; i++)
		if (l->list.at[i].line == line && strcmp(l->list.at[i].file, name) == 0) {
			free(name);
			return;
		}
	*vec_add(&l->list) = (struct lines_line){ name, line };
}

void lines_release(struct lines *l)
{
	for (size_t i = 0; i < l->list.n; i++)
		free(l->list.at[i].file);
	vec_release(&l->list);
}

static bool is_listed(const struct lines *l, const char *file, int line)
{
	for (size_t i = 0; i < l->list.n; i++)
		if ((int)l->list.at[i].line == line && strcmp(l->list.at[i].file, file) == 0)
			return true;
	return false;
}

static bool has_line(const struct lines *l, int line)
{
	for (size_t i = 0; i < l->list.n; i++)
		if ((int)l->list.at[i].line == line)
			return true;
	return false;
}

/* Gives the real path of the file in a row of the line table. The path in the row may be relative
 * to the folder of the compiler. */
static char *row_file(Dwarf_Line *row, const char *folder)
{
	const char *name = dwarf_linesrc(row, NULL, NULL);
	char *joined, *real;

	if (!name)
		return NULL;
	joined = name[0] == '/' || !folder ? xstrdup(name) : xasprintf("%s/%s", folder, name);
	real = path_real_or_same(joined);
	free(joined);
	return real;
}

static void unit_find(const struct lines *l, Dwarf_Die *unit, struct lines_ranges *ranges)
{
	Dwarf_Attribute attribute;
	const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	Dwarf_Lines *rows;
	size_t n = 0;

	if (dwarf_getsrclines(unit, &rows, &n) != 0)
		return;
	for (size_t i = 0; i + 1 < n; i++) { /* the last row only ends a sequence */
		Dwarf_Line *row = dwarf_onesrcline(rows, i), *next = dwarf_onesrcline(rows, i + 1);
		Dwarf_Addr from, to;
		bool ends = true;
		char *file;
		int line;

		if (dwarf_lineno(row, &line) != 0 || !has_line(l, line) ||
		    dwarf_lineendsequence(row, &ends) != 0 || ends ||
		    dwarf_lineaddr(row, &from) != 0 || dwarf_lineaddr(next, &to) != 0 || to <= from)
			continue;
		file = row_file(row, folder);
		if (file && is_listed(l, file, line))
			*vec_add(&ranges->list) = (struct lines_range){ from, to };
		free(file);
	}
}

void lines_find(const struct lines *l, const char *object, struct lines_ranges *ranges)
{
	int fd = open(object, O_RDONLY | O_CLOEXEC);
	Dwarf *dwarf = fd >= 0 ? dwarf_begin(fd, DWARF_C_READ) : NULL;
	Dwarf_Off offset = 0, next;
	size_t header_bytes;

	while (dwarf && dwarf_nextcu(dwarf, offset, &next, &header_bytes, NULL, NULL, NULL) == 0) {
		Dwarf_Die unit;

		if (dwarf_offdie(dwarf, offset + header_bytes, &unit))
			unit_find(l, &unit, ranges);
		offset = next;
	}
	if (dwarf)
		dwarf_end(dwarf);
	if (fd >= 0)
		close(fd);
}
