/* Finds epochs that a crash could tear, by what a thread stores outside, inside and at its fences.
 * A single word that is stored and fenced alone counts as a commit variable: it excuses the epochs
 * that wait. */
#include "check/torn.h"

#include <stdlib.h>

/* epochs that are kept for the end; one per place in the source would be enough */
#define MAX_SUSPECTS 4096u

static void groups_release(struct torn_group *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		ranges_release(&list[i].words);
}

void torn_clear(struct torn *t)
{
	groups_release(t->suspects.at, t->suspects.n);
	t->suspects.n = 0;
}

void torn_release(struct torn *t)
{
	torn_clear(t);
	vec_release(&t->suspects);
	vec_release(&t->txs);
}

void torn_thread_release(struct torn_thread *a)
{
	ranges_release(&a->epoch.words);
	groups_release(a->waiting.at, a->waiting.n);
	vec_release(&a->waiting);
}

/* ---- epochs ---- */

void torn_note_words(struct torn_thread *a, uint64_t first, uint64_t last)
{
	a->nwords = first != last || (a->nwords && a->word != first) ? 2 : a->nwords == 2 ? 2 : 1;
	a->word = first;
}

void torn_note_modified(struct torn_thread *a, const struct trace_event *ev, uint64_t first,
			uint64_t last)
{
	if (a->epoch.words.list.n == 0) {
		a->epoch.site = ev->site;
		a->epoch.seq = ev->seq;
	}
	ranges_add(&a->epoch.words, first * WORD_BYTES, (last - first + 1) * WORD_BYTES);
}

static int number_compare(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Gives the number of a transaction that changed two of these words; 0 if there is none. */
static uint32_t common_tx(struct torn *t, const struct ranges *words)
{
	t->txs.n = 0;
	for (size_t i = 0; i < words->list.n; i++)
		for (uint64_t addr = words->list.at[i].from; addr < words->list.at[i].to;
		     addr += WORD_BYTES) {
			const struct word *word = words_find(t->modified, addr);

			if (word)
				*vec_add(&t->txs) = word->tx;
		}
	if (t->txs.n)
		qsort(t->txs.at, t->txs.n, sizeof *t->txs.at, number_compare);
	for (size_t i = 1; i < t->txs.n; i++)
		if (t->txs.at[i] == t->txs.at[i - 1])
			return t->txs.at[i];
	return 0;
}

void torn_end_epoch(struct torn *t, struct torn_thread *a)
{
	if (a->nwords == 1)
		torn_excuse(t, a);
	a->nwords = 0;
	if (a->epoch.words.list.n == 0)
		return;
	a->epoch.tx = common_tx(t, &a->epoch.words);
	if (a->epoch.tx) {
		*vec_add(&a->waiting) = a->epoch;
		a->epoch.words = (struct ranges){ 0 };
	} else if (!unflushed_touch(t->unflushed, &a->epoch.words)) {
		words_set_proper(t->modified, &a->epoch.words);
	}
	a->epoch.words.list.n = 0;
}

/* ---- waiting epochs ---- */

/* Does the open transaction store to something that the transaction which changed the group's words
 * does not? */
static bool is_elsewhere(const struct torn *t, const struct torn_group *g,
			 const struct trace_event *ev, uint32_t tx)
{
	uint64_t addr = ev->addr & ~(uint64_t)(WORD_BYTES - 1);

	for (; addr < ev->addr + ev->size_bytes; addr += WORD_BYTES) {
		const struct word *word = words_find(t->modified, addr);

		if (!word || (word->tx != g->tx && word->tx != tx))
			return true;
	}
	return false;
}

void torn_note_inside(struct torn *t, struct torn_thread *a, const struct trace_event *ev,
		      uint32_t tx)
{
	for (size_t i = 0; i < a->waiting.n; i++)
		if (is_elsewhere(t, &a->waiting.at[i], ev, tx)) {
			torn_excuse(t, a);
			break;
		}
}

void torn_excuse(struct torn *t, struct torn_thread *a)
{
	for (size_t i = 0; i < a->waiting.n; i++)
		words_set_proper(t->modified, &a->waiting.at[i].words);
	groups_release(a->waiting.at, a->waiting.n);
	a->waiting.n = 0;
}

void torn_accuse(struct torn *t, struct torn_thread *a)
{
	for (size_t i = 0; i < a->waiting.n; i++) {
		if (t->suspects.n < MAX_SUSPECTS)
			*vec_add(&t->suspects) = a->waiting.at[i];
		else
			ranges_release(&a->waiting.at[i].words);
	}
	a->waiting.n = 0;
}
