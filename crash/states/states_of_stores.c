/* Finds the crash states of one update behaviour, whose stores are given. Such a state loses some
 * of these stores; any other store that it loses could not survive the loss of these. Stores before
 * the first given one count as durable. Also compares what two contents of a line lose. */
#include "crash/states/states_of_stores.h"

struct search {
	const uint64_t *seqs;
	size_t nseqs;
	size_t nown;   /* stores of the behaviour that were seen */
	bool is_older; /* a store older than the behaviour was seen */
	bool is_other; /* a store was lost that is not of the behaviour and that could survive */
};

/* Notes a store. Is it of the behaviour? */
static bool note(struct search *f, uint64_t seq)
{
	size_t low = 0, high = f->nseqs;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (f->seqs[middle] < seq)
			low = middle + 1;
		else
			high = middle;
	}
	f->is_older |= seq < f->seqs[0];
	if (low == f->nseqs || f->seqs[low] != seq)
		return false;
	f->nown++;
	return true;
}

static void note_store(const struct model_store *s, void *arg)
{
	note(arg, s->seq);
}

static void note_lost(const struct model_lost *s, void *arg)
{
	struct search *f = arg;

	if (!note(f, s->seq))
		f->is_other |= s->is_free;
}

/* Allows the contents of a line that lose stores of the behaviour but none from before it. */
static void allow(const struct state_set *s, const struct state_line *l, const struct model *m,
		  const uint64_t *seqs, size_t nseqs, uint64_t *set)
{
	for (uint32_t c = 0; c + 1 < l->ncontents; c++) {
		struct search lost = { .seqs = seqs, .nseqs = nseqs };

		if (model_each_lost(m, l->addr, state_content(s, l, c), note_lost, &lost) &&
		    lost.nown > 0 && !lost.is_older && !lost.is_other)
			bit_put(set + l->set, c, true);
	}
}

uint64_t *states_of_stores(const struct state_set *s, const struct model *m, const uint64_t *seqs,
			   size_t nseqs)
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

struct losses {
	VEC(struct model_lost) list;
};

static void add_lost(const struct model_lost *s, void *arg)
{
	*vec_add(&((struct losses *)arg)->list) = *s;
}

static bool has_lost(const struct losses *l, const struct model_lost *s, bool is_by_place)
{
	for (size_t i = 0; i < l->list.n; i++)
		if (is_by_place ? l->list.at[i].site == s->site : l->list.at[i].seq == s->seq)
			return true;
	return false;
}

bool states_loses(const struct state_set *s, const struct model *m, const struct state_line *l,
		  uint32_t content, uint32_t other, bool is_by_place)
{
	struct losses mine = { 0 }, others = { 0 };
	bool is_all = true;

	if (!model_is_partial_order(m) || content == other)
		return content <= other;
	model_each_lost(m, l->addr, state_content(s, l, content), add_lost, &mine);
	model_each_lost(m, l->addr, state_content(s, l, other), add_lost, &others);
	for (size_t i = 0; i < others.list.n && is_all; i++)
		is_all = has_lost(&mine, &others.list.at[i], is_by_place);
	vec_release(&mine.list);
	vec_release(&others.list);
	return is_all;
}

bool states_include(const struct state_set *s, const uint64_t *set, const uint64_t *other)
{
	for (size_t i = 0; i < s->nwords; i++)
		if (other[i] & ~set[i])
			return false;
	return true;
}
