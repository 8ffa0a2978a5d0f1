/* Adds macros to a file that shows no way to flush or to fence: inline assembly for both
 * architectures, behind the #include lines. */
#include <string.h>

#include "repair/idiom/internal.h"

static const char flush_name[] = "PM_FLUSH", fence_name[] = "PM_FENCE";

/* `dc cvap` is written by its number, since assemblers know the name only for newer processors. */
static const char definitions[] =
	"\n"
	"/* PM_FLUSH writes the cache line of an address back to persistent memory; PM_FENCE waits until it is there. */\n"
	"#ifdef __aarch64__\n"
	"#define PM_FLUSH(p) __asm__ volatile(\"sys #3, c7, c12, #1, %0\" : : \"r\"(p) : \"memory\") /* dc cvap */\n"
	"#define PM_FENCE() __asm__ volatile(\"dsb sy\" : : : \"memory\")\n"
	"#else\n"
	"#define PM_FLUSH(p) __asm__ volatile(\"clwb (%0)\" : : \"r\"(p) : \"memory\")\n"
	"#define PM_FENCE() __asm__ volatile(\"sfence\" : : : \"memory\")\n"
	"#endif\n";

static bool is_taken(const struct source_unit *u)
{
	for (size_t i = 0; i < u->nmacros; i++)
		if (strcmp(u->macros[i].name, flush_name) == 0 ||
		    strcmp(u->macros[i].name, fence_name) == 0)
			return true;
	return false;
}

void own_macros_offer(struct repair *r, const struct fix *x, struct idiom *i)
{
	const bool flushes = i->flush.call || i->line.call;

	if (i->persist.call || (flushes && i->fence.call) || is_taken(x->unit))
		return;
	if (!flushes)
		i->line =
			(struct idiom_call){ .call = text_format(r->code, "%s({addr})", flush_name),
					     .is_statement = true };
	if (!i->fence.call)
		i->fence = (struct idiom_call){ .call = text_format(r->code, "%s()", fence_name),
						.is_statement = true };
}

/* Returns the word behind the # if the line is a directive, else NULL. */
static const char *directive(const char *line)
{
	line += strspn(line, " \t");
	if (*line != '#')
		return NULL;
	return line + 1 + strspn(line + 1, " \t");
}

/* Returns the place behind the last #include of those under the fewest conditions; the file's
 * beginning if there is none. */
static uint32_t behind_includes(const struct file *f, uint32_t before)
{
	uint32_t place = 0;
	int depth = 0, least = -1;

	for (uint32_t at = 0; at < before; at = text_line_end(f, at) + 1) {
		const char *word = directive(f->text + at);

		if (word && strncmp(word, "if", 2) == 0)
			depth++;
		else if (word && strncmp(word, "endif", 5) == 0)
			depth--;
		else if (word && strncmp(word, "include", 7) == 0 &&
			 (least < 0 || depth <= least)) {
			least = depth;
			place = text_line_end(f, at) + 1;
		}
	}
	return place;
}

static bool is_own(const char *line)
{
	return strstr(line, flush_name) || strstr(line, fence_name);
}

void own_macros_define(const struct fix *x, const struct idiom_line *lines)
{
	bool is_used = false;

	for (size_t i = 0; lines[i].text; i++)
		is_used |= is_own(lines[i].text);
	if (!is_used || is_taken(x->unit))
		return;
	for (size_t i = 0; i < x->file->edits.n; i++)
		if (x->file->edits.at[i].insert == definitions)
			return;
	file_edit(x->file, behind_includes(x->file, x->stmt->begin), 0, definitions);
}
