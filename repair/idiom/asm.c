/* Decides what inline assembly does: flush, fence, or neither, on both architectures. It must
 * consist of known instructions only; assembler directives are ignored. */
#include <ctype.h>
#include <string.h>

#include "repair/idiom/idiom.h"

/* Instructions as they are written, with single spaces. An instruction that takes an operand must
 * be followed by a comma or a space. */
static const struct known {
	const char *instruction;
	unsigned does;
	const char *flush; /* text that flushes the line whose address is in the register %0 */
} known[] = {
	{ "clwb", DOES_FLUSH, "clwb (%0)" },
	{ "clflushopt", DOES_FLUSH, "clflushopt (%0)" },
	{ "clflush", DOES_FLUSH, "clflush (%0)" },
	{ "dc cvap", DOES_FLUSH, "dc cvap, %0" },
	{ "dc cvadp", DOES_FLUSH, "dc cvadp, %0" },
	{ "dc cvac", DOES_FLUSH, "dc cvac, %0" },
	{ "dc civac", DOES_FLUSH, "dc civac, %0" },
	/* cvap and cvadp, for assemblers that do not know their names */
	{ "sys #3, c7, c12, #1", DOES_FLUSH, "sys #3, c7, c12, #1, %0" },
	{ "sys #3, c7, c13, #1", DOES_FLUSH, "sys #3, c7, c13, #1, %0" },
	{ "sfence", DOES_FENCE, NULL },
	{ "mfence", DOES_FENCE, NULL },
	{ "dsb sy", DOES_FENCE, NULL },
	{ "dsb ish", DOES_FENCE, NULL },
	{ "dsb osh", DOES_FENCE, NULL },
	/* these do not complete flushes, whatever their function is called */
	{ "lfence", 0, NULL },
	{ "dsb st", 0, NULL },
	{ "dsb ld", 0, NULL },
	{ "dsb ishst", 0, NULL },
	{ "dsb ishld", 0, NULL },
	{ "dsb oshst", 0, NULL },
	{ "dsb oshld", 0, NULL },
	{ "dsb nsh", 0, NULL },
	{ "dsb nshst", 0, NULL },
	{ "dsb nshld", 0, NULL },
	{ "dmb sy", 0, NULL },
	{ "dmb st", 0, NULL },
	{ "dmb ld", 0, NULL },
	{ "dmb ish", 0, NULL },
	{ "dmb ishst", 0, NULL },
	{ "dmb ishld", 0, NULL },
	{ "dmb osh", 0, NULL },
	{ "dmb oshst", 0, NULL },
	{ "dmb oshld", 0, NULL },
};

enum { INSTRUCTION_MAX = 64 };

/* Copies the next instruction of a template to `out`, in lower case and with single spaces. Returns
 * the text behind it; NULL at the end. */
static const char *next_instruction(const char *text, const char *end, char *out)
{
	size_t n = 0;

	while (text < end && (isspace((unsigned char)*text) || *text == ';'))
		text++;
	if (text >= end)
		return NULL;
	for (; text < end && *text != ';' && strncmp(text, "\\n", 2) != 0; text++) {
		bool is_space = isspace((unsigned char)*text) || strncmp(text, "\\t", 2) == 0;

		text += *text == '\\';
		if (n + 1 < INSTRUCTION_MAX && !(is_space && (n == 0 || out[n - 1] == ' ')))
			out[n++] = is_space ? ' ' : (char)tolower((unsigned char)*text);
	}
	while (n && out[n - 1] == ' ')
		n--;
	out[n] = 0;
	return text < end && *text == '\\' ? text + 2 : text;
}

static const struct known *known_find(const char *instruction)
{
	for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
		size_t len = strlen(known[i].instruction);
		char follows = strncmp(instruction, known[i].instruction, len) == 0
				       ? instruction[len]
				       : 'x';

		if (known[i].flush ? follows == ',' || follows == ' ' : follows == 0)
			return &known[i];
	}
	return NULL;
}

bool idiom_asm_text(const char *text, unsigned *does, const char **flush)
{
	const char *begin = strchr(text, '"'), *end = begin ? strchr(begin + 1, '"') : NULL;
	char instruction[INSTRUCTION_MAX];
	bool has_prefix = false;

	*does = 0;
	*flush = NULL;
	if (!end || (strncmp(text, "asm", 3) != 0 && strncmp(text, "__asm", 5) != 0))
		return false;
	/* the template continues in a second string */
	if (end[1 + strspn(end + 1, " \t\\\n")] == '"')
		return false;
	for (const char *at = begin + 1; (at = next_instruction(at, end, instruction));) {
		const struct known *k = known_find(instruction);

		/* this prefix turns an older instruction into a newer one, which old assemblers do
		 * not know */
		if (strcmp(instruction, ".byte 0x66") == 0)
			has_prefix = true;
		if (instruction[0] == '.' || !instruction[0])
			continue;
		if (has_prefix && strncmp(instruction, "xsaveopt ", 9) == 0)
			k = &known[0];
		if (!k)
			return false;
		*does |= k->does;
		*flush = k->flush ? k->flush : *flush;
	}
	return true;
}

/* Returns the assembly in the definition of the macro that `use` names; NULL: there is no such
 * macro. */
static const char *macro_asm(const struct source_unit *u, const char *use)
{
	size_t len = strcspn(use, "( \t");

	for (size_t i = 0; i < u->nmacros; i++) {
		const char *text = u->macros[i].text, *body = strstr(text, "asm");

		if (strncmp(u->macros[i].name, use, len) != 0 || u->macros[i].name[len] || !body ||
		    strstr(body + 3, "asm"))
			continue;
		while (body > text && body[-1] == '_')
			body--;
		return body;
	}
	return NULL;
}

bool idiom_asm(const struct source_unit *u, const struct source_node *n, unsigned *does,
	       const char **flush)
{
	const char *text = n->name ? macro_asm(u, n->name) : NULL;

	*does = 0;
	*flush = NULL;
	return n->name && idiom_asm_text(text ? text : n->name, does, flush);
}
