/* Puts a value that is neither the old nor the new one where recovery reads a word, and runs
 * recovery. */
#include "crash/races/perturb.h"

#include <string.h>

/* neither the lowest nor the highest bit of a byte: some logs use these to recognise torn data */
static const uint8_t g_bits[] = { [PERTURB_A_LITTLE] = 0x02, [PERTURB_MUCH] = 0x5a };
#define OTHER_BITS 0x04u
#define MUCH_BYTES 4u

struct newest {
	const struct suspect *word;
	uint64_t seq, from, end; /* the bytes of the store, from `from` to `end` */
};

static void note_newest(const struct model_store *s, void *arg)
{
	struct newest *n = arg;

	if (s->seq >= n->seq && suspect_touches(n->word, s->addr, s->size_bytes))
		*n = (struct newest){ n->word, s->seq, s->addr, s->addr + s->size_bytes };
}

/* Finds all bytes of the word, as offsets in the line: the bytes of its aligned 8 bytes that their
 * last store wrote. */
static void word_extent(const struct explorer *e, const struct state_set *set,
			const struct suspect *word, uint32_t *from, uint32_t *end)
{
	const uint64_t first = word->addr + word->at + (uint64_t)__builtin_ctzll(word->mask),
		       aligned = first / 8 * 8;
	struct newest n = { .word = word, .from = first, .end = first + 1 };

	model_each(e->walk->model, word->addr, set->line_bytes, note_newest, &n);
	*from = (uint32_t)((n.from > aligned ? n.from : aligned) - word->addr);
	*end = (uint32_t)((n.end < aligned + 8 ? n.end : aligned + 8) - word->addr);
}

static void change(uint8_t *content, const uint8_t *oldest, const uint8_t *newest, uint32_t from,
		   uint32_t end, enum perturbation how)
{
	const uint32_t n_bytes = how == PERTURB_MUCH ? MUCH_BYTES : 1;

	memcpy(content + from, oldest + from, end - from);
	for (uint32_t i = from; i < end && i < from + n_bytes; i++)
		content[i] ^= g_bits[how];
	if (memcmp(content + from, newest + from, end - from) == 0)
		content[from] ^= OTHER_BITS;
}

int perturb(struct explorer *e, struct state_set *set, const uint64_t *state,
	    const struct suspect *word, enum perturbation how, struct verdict *v, struct error *err)
{
	const struct state_line *l = states_line(set, word->addr);
	uint8_t *content, *kept;
	uint32_t from, end;
	int result;

	if (!l)
		BUG("a line that is not in the set");
	word_extent(e, set, word, &from, &end);
	content = set->bytes.at + l->contents +
		  (size_t)states_newest_left(l, state) * set->line_bytes;
	kept = xmalloc(set->line_bytes);
	memcpy(kept, content, set->line_bytes);
	change(content, content == state_content(set, l, 0) ? kept : state_content(set, l, 0),
	       state_content(set, l, l->ncontents - 1), from, end, how);
	runner_load(e->runner, &e->walk->image, set);
	result = explorer_try(e, state, v, err);
	memcpy(content, kept, set->line_bytes);
	runner_load(e->runner, &e->walk->image, set);
	free(kept);
	return result;
}
