/* Finds the crash states in which only given stores are lost, and what cannot survive without them. What came before the first of them is taken to be
 * durable. */
#include "crash/states/states_of_stores.h"

struct search {
	const uint64_t *seqs;
	size_t nseqs;
	size_t nown;  /* stores of the behaviour among those that were told of */
	bool is_older; /* one that is older than the behaviour was among them */
};

static void note(struct search *f, uint64_t seq)
{
	size_t low = 0, high = f->nseqs;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->seqs[middle] < seq)
			low = middle + 1;
		else
			high = middle;
	}
	f->nown += low < f->nseqs && f->seqs[low] == seq;
	f->is_older |= seq < f->seqs[0];
}

static void note_store(const struct model_store *s, void *arg)
{
	note(arg, s->seq);
}

static void note_lost(const struct model_lost *s, void *arg)
{
	note(arg, s->seq);
}

/* What came before the behaviour is taken to be durable: nothing of it may be lost, even where it could be. */
static void allow(const struct state_set *s, const struct state_line *l, const struct model *m, const uint64_t *seqs, size_t nseqs,
		  uint64_t *set)
{
	for (uint32_t c = 0; c + 1 < l->ncontents; c++) {
		struct search lost = { .seqs = seqs, .nseqs = nseqs };

		if (model_each_lost(m, l->addr, state_content(s, l, c), note_lost, &lost) && lost.nown > 0 && !lost.is_older)
			bit_put(set + l->set, c, true);
	}
}

uint64_t *states_of_stores(const struct state_set *s, const struct model *m, const uint64_t *seqs, size_t nseqs)
{
	uint64_t *set = states_newest(s);

	for (size_t i = 0; i < s->lines.n && nseqs > 0; i++) {
		struct search there = { .seqs = seqs, .nseqs = nseqs };

		if (s->lines.at[i].ncontents < 2)
			continue;
		model_each(m, s->lines.at[i].addr, s->line_bytes, note_store, &there);
		if (there.nown > 0)
			allow(s, &s->lines.at[i], m, seqs, nseqs, set);
	}
	return set;
}

bool states_include(const struct state_set *s, const uint64_t *set, const uint64_t *other)
{
	for (size_t i = 0; i < s->nwords; i++)
		if (other[i] & ~set[i])
			return false;
	return true;
}
