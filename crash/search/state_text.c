/* Writes a crash state as text and reads it: the failure point, and each line whose content is not the newest with the number of its content. */
#include "crash/search/state_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/alloc.h"

char *state_text(const struct state_set *s, uint64_t point, const uint64_t *state)
{
	const char *sep = ":";
	char *text = NULL;
	size_t len_bytes = 0;
	FILE *f = open_memstream(&text, &len_bytes);

	if (!f)
		BUG("no memory for the text of a state");
	fprintf(f, "%" PRIu64, point);
	for (size_t i = 0; i < s->lines.n; i++) {
		const struct state_line *l = &s->lines.at[i];
		uint32_t c = states_newest_left(l, state);

		if (c == l->ncontents - 1)
			continue;
		fprintf(f, "%s%u+%" PRIx64 "=%u", sep, PMT_FILE(l->addr), (uint64_t)PMT_OFFSET(l->addr), c);
		sep = ",";
	}
	if (fclose(f) != 0)
		BUG("no memory for the text of a state");
	return text;
}

uint64_t state_point(const char *text)
{
	return strtoull(text, NULL, 10);
}

static int state_parse_one(const struct state_set *s, const char *text, uint64_t *state)
{
	const struct state_line *l;
	uint64_t offset;
	uint32_t file, c;

	if (sscanf(text, "%" SCNu32 "+%" SCNx64 "=%" SCNu32, &file, &offset, &c) != 3)
		return -1;
	l = states_line(s, PMT_ADDR(file, offset));
	if (!l || l->addr != PMT_ADDR(file, offset) || c >= l->ncontents)
		return -1;
	states_only(l, state, c);
	return 0;
}

uint64_t *state_parse(const struct state_set *s, const char *text, struct error *err)
{
	uint64_t *state = states_newest(s);
	const char *at = strchr(text, ':');

	while (at) {
		if (state_parse_one(s, at + 1, state) < 0) {
			error_set(err, "'%s' is no state of this trace at failure point %" PRIu64, text, state_point(text));
			free(state);
			return NULL;
		}
		at = strchr(at + 1, ',');
	}
	return state;
}
