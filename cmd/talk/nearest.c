/* Finds the word that a misspelt one resembles: at most two letters differ, or it is the beginning
 * of the word. Two exchanged letters count as one. */
#include "cmd/talk/nearest.h"

#include <string.h>

enum { LONGEST = 32, TOO_FAR = 3 /* more than two typos make another word */ };

static unsigned min2(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

static unsigned edit_distance(const char *a, const char *b)
{
	unsigned d[LONGEST + 1][LONGEST + 1];
	size_t na = strlen(a), nb = strlen(b);

	if (na > LONGEST || nb > LONGEST)
		return TOO_FAR;
	for (size_t i = 0; i <= na; i++)
		for (size_t j = 0; j <= nb; j++) {
			if (i == 0 || j == 0) {
				d[i][j] = (unsigned)(i + j);
				continue;
			}
			d[i][j] = min2(min2(d[i - 1][j], d[i][j - 1]) + 1,
				       d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				d[i][j] = min2(d[i][j], d[i - 2][j - 2] + 1);
		}
	return d[na][nb];
}

void nearest_init(struct nearest *n, const char *typed)
{
	*n = (struct nearest){ .typed = typed, .distance = TOO_FAR };
}

void nearest_try(struct nearest *n, const char *candidate)
{
	size_t len = strlen(n->typed);
	unsigned d = edit_distance(n->typed, candidate);

	if (d >= strlen(candidate)) /* no letter is the same */
		return;
	if (len > 1 && strncmp(n->typed, candidate, len) == 0)
		d = min2(d, TOO_FAR - 1);
	if (d < n->distance) {
		n->distance = d;
		n->word = candidate;
	}
}
