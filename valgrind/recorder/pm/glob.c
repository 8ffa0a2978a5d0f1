/* Matches a file name with a pattern: *, ?, sets in brackets, and a backslash that makes the next
 * character literal. */
#include "valgrind/recorder/pm/glob.h"

/* Matches a set: [abc], [a-z], [!a-z]. pattern is behind the opening bracket; *end is set behind
 * the closing one. */
static Bool set_matches(const HChar *pattern, HChar c, const HChar **end)
{
	Bool is_not = *pattern == '!' || *pattern == '^', is_in = False;
	const HChar *p = pattern + is_not, *first = p;

	for (; *p != '\0' && (*p != ']' || p == first); p++) {
		HChar from = *p, to = *p;

		if (p[1] == '-' && p[2] != ']' && p[2] != '\0') {
			to = p[2];
			p += 2;
		}
		if (from <= c && c <= to)
			is_in = True;
	}
	*end = *p == ']' ? p + 1 : p;
	return is_in != is_not;
}

Bool glob_match(const HChar *glob, const HChar *s)
{
	for (; *glob != '\0'; s++) {
		if (*glob == '*') {
			while (*glob == '*')
				glob++;
			for (; *s != '\0'; s++)
				if (glob_match(glob, s))
					return True;
			return *glob == '\0';
		}
		if (*s == '\0')
			return False;
		if (*glob == '[') {
			if (!set_matches(glob + 1, *s, &glob))
				return False;
			continue;
		}
		if (*glob == '\\' && glob[1] != '\0')
			glob++;
		else if (*glob == '?') {
			glob++;
			continue;
		}
		if (*glob++ != *s)
			return False;
	}
	return *s == '\0';
}
