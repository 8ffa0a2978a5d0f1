/* Writes a crash state as text, and reads such a text: the failure point, and for each line whose
 * content is not the newest, the number of the content. For a line with very many contents, the
 * text has the bytes of the content instead. */
#include "crash/search/state_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

/* Writes a content. In a line with many contents, numbers depend on what was asked for, so its
 * bytes are written. */
static void put_content(FILE *f, const struct state_set *s, const struct state_line *l, uint32_t c)
{
	if (l->asked == ~(uint64_t)0 && l->ncontents <= STATES_LISTED) {
		fprintf(f, "%u", c);
		return;
	}
	fputc('x', f);
	for (uint32_t i = 0; i < s->line_bytes; i++)
		fprintf(f, "%02x", state_content(s, l, c)[i]);
}

char *state_text(const struct state_set *s, uint64_t point, const uint64_t *state)
{
	const char *sep = ":";
	char *text = NULL;
	size_t len_bytes = 0;
	FILE *f = open_memstream(&text, &len_bytes);

	if (!f)
		alloc_die();
	fprintf(f, "%" PRIu64, point);
	for (size_t i = 0; i < s->lines.n; i++) {
		const struct state_line *l = &s->lines.at[i];
		uint32_t c = states_newest_left(l, state);

		if (c == l->ncontents - 1)
			continue;
		fprintf(f, "%s%u+%" PRIx64 "=", sep, PMT_FILE(l->addr),
			(uint64_t)PMT_OFFSET(l->addr));
		put_content(f, s, l, c);
		sep = ",";
	}
	if (fclose(f) != 0)
		alloc_die();
	return text;
}

uint64_t state_point(const char *text)
{
	return strtoull(text, NULL, 10);
}

/* One line of a state text. */
struct named {
	uint64_t addr;
	bool is_bytes;
	uint32_t number;
	uint32_t nbytes;
	uint8_t bytes[MODEL_LINE_BYTES_MAX];
};

static int digit(char c)
{
	return isdigit((unsigned char)c)    ? c - '0'
	       : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
					    : INT_MAX;
}

/* Reads a number of digits only: no sign, no blanks, no 0x. Moves behind it. False: there is none,
 * or it is larger than max. */
static bool take_number(const char **at, int base, uint64_t max, uint64_t *n)
{
	const char *begin = *at;

	for (*n = 0; digit(**at) < base; (*at)++)
		if (__builtin_mul_overflow(*n, (uint64_t)base, n) ||
		    __builtin_add_overflow(*n, (uint64_t)digit(**at), n) || *n > max)
			return false;
	return *at > begin;
}

static bool take_char(const char **at, char c)
{
	if (**at != c)
		return false;
	(*at)++;
	return true;
}

/* Reads the bytes of a line, which is a sector on some platforms. */
static bool take_bytes(struct named *n, const char **at)
{
	for (; n->nbytes < sizeof n->bytes && digit((*at)[0]) < 16; *at += 2)
		if (digit((*at)[1]) < 16)
			n->bytes[n->nbytes++] = (uint8_t)(digit((*at)[0]) << 4 | digit((*at)[1]));
		else
			return false;
	return n->nbytes > 0;
}

/* Reads FILE+OFFSET=CONTENT and moves behind it. */
static bool take_named(struct named *n, const char **at)
{
	uint64_t file, offset, number = 0;

	*n = (struct named){ 0 };
	if (!take_number(at, 10, UINT64_MAX >> PMT_OFFSET_BITS, &file) || !take_char(at, '+') ||
	    !take_number(at, 16, PMT_OFFSET(UINT64_MAX), &offset) || !take_char(at, '='))
		return false;
	n->addr = PMT_ADDR(file, offset);
	n->is_bytes = **at == 'x';
	if (n->is_bytes)
		return take_char(at, 'x') && take_bytes(n, at);
	if (!take_number(at, 10, UINT32_MAX, &number))
		return false;
	n->number = (uint32_t)number;
	return true;
}

static int named_parse(struct named *n, const char *text)
{
	return take_named(n, &text) && (*text == '\0' || *text == ',') ? 0 : -1;
}

bool state_is_text(const char *text)
{
	VEC(uint64_t) lines = { 0 };
	struct named n;
	uint64_t point;
	bool is_good = take_number(&text, 10, UINT64_MAX, &point);

	for (char before = ':'; is_good && *text; before = ',') {
		is_good = take_char(&text, before) && take_named(&n, &text);
		for (size_t i = 0; is_good && i < lines.n; i++)
			is_good = lines.at[i] != n.addr;
		*vec_add(&lines) = n.addr;
	}
	vec_release(&lines);
	return is_good;
}

static int no_such_state(const char *text, struct error *err)
{
	return error_set(err, "'%s' is not a state of this trace at failure point %" PRIu64, text,
			 state_point(text));
}

static void ignore_lost(const struct model_lost *s, void *arg)
{
	(void)s, (void)arg;
}

/* Adds a line with two contents: this one and the newest. */
static int add_content(struct state_set *s, const struct model *m, const struct named *n)
{
	struct state_line *l = (struct state_line *)states_line(s, n->addr);
	size_t newest;

	if (!l || l->addr != n->addr || n->nbytes != s->line_bytes ||
	    !model_each_lost(m, n->addr, n->bytes, ignore_lost, NULL))
		return -1;
	newest = l->contents + (size_t)(l->ncontents - 1) * s->line_bytes;
	vec_reserve(&s->bytes, s->bytes.n + 2 * s->line_bytes);
	memcpy(s->bytes.at + s->bytes.n, n->bytes, n->nbytes);
	memcpy(s->bytes.at + s->bytes.n + s->line_bytes, s->bytes.at + newest, s->line_bytes);
	l->contents = s->bytes.n;
	l->ncontents = 2;
	l->set = s->nwords++;
	l->words = 1;
	s->bytes.n += 2 * s->line_bytes;
	return 0;
}

int state_collect(struct state_set *s, const struct model *m, const char *text, struct error *err)
{
	struct named n;

	states_collect_newest(s, m);
	for (const char *at = strchr(text, ':'); at; at = strchr(at + 1, ','))
		if (named_parse(&n, at + 1) < 0 || (n.is_bytes && add_content(s, m, &n) < 0))
			return no_such_state(text, err);
	return 0;
}

static int state_parse_one(const struct state_set *s, const char *text, uint64_t *state)
{
	const struct state_line *l;
	struct named n;

	if (named_parse(&n, text) < 0)
		return -1;
	l = states_line(s, n.addr);
	if (!l || l->addr != n.addr)
		return -1;
	if (n.is_bytes && n.nbytes != s->line_bytes)
		return -1;
	for (uint32_t c = 0; n.is_bytes && c < l->ncontents; c++)
		if (memcmp(state_content(s, l, c), n.bytes, n.nbytes) == 0) {
			states_only(l, state, c);
			return 0;
		}
	if (n.is_bytes || n.number >= l->ncontents)
		return -1;
	states_only(l, state, n.number);
	return 0;
}

uint64_t *state_parse(const struct state_set *s, const char *text, struct error *err)
{
	uint64_t *state = states_newest(s);

	for (const char *at = strchr(text, ':'); at; at = strchr(at + 1, ','))
		if (state_parse_one(s, at + 1, state) < 0) {
			no_such_state(text, err);
			free(state);
			return NULL;
		}
	return state;
}
