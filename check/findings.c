/* Collects findings in a hash table, so that memory grows with source situations and not with
 * events. Kinds and messages are constants, so their addresses are compared. */
#include "check/findings.h"

#include <string.h>

void findings_release(struct findings *f)
{
	vec_release(&f->list);
	vec_release(&f->buckets);
}

void findings_clear(struct findings *f)
{
	f->list.n = f->buckets.n = 0;
}

static uint64_t finding_hash(const struct finding *f)
{
	uint64_t words[2 + FINDING_MAX_PLACES] = { (uintptr_t)f->kind, (uintptr_t)f->message };

	for (size_t i = 0; i < f->nplaces; i++)
		words[2 + i] = f->places[i].site ? f->places[i].site->id : 0;
	return pmt_hash(words, sizeof words);
}

static bool finding_equal(const struct finding *a, const struct finding *b)
{
	if (a->kind != b->kind || a->message != b->message || a->reason != b->reason ||
	    a->is_cut != b->is_cut || a->nplaces != b->nplaces)
		return false;
	for (size_t i = 0; i < a->nplaces; i++)
		if (a->places[i].site != b->places[i].site)
			return false;
	return true;
}

static uint32_t *bucket_of(struct findings *f, const struct finding *one)
{
	size_t i = finding_hash(one) & (f->buckets.n - 1);

	while (f->buckets.at[i] && !finding_equal(&f->list.at[f->buckets.at[i] - 1], one))
		i = (i + 1) & (f->buckets.n - 1);
	return &f->buckets.at[i];
}

static void grow_buckets(struct findings *f)
{
	size_t n = f->buckets.n ? 2 * f->buckets.n : 64;

	vec_reserve(&f->buckets, n);
	memset(f->buckets.at, 0, n * sizeof f->buckets.at[0]);
	f->buckets.n = n;
	for (size_t i = 0; i < f->list.n; i++)
		*bucket_of(f, &f->list.at[i]) = (uint32_t)i + 1;
}

void findings_add(struct findings *f, const struct finding *one)
{
	uint32_t *bucket;

	if (2 * f->list.n >= f->buckets.n)
		grow_buckets(f);
	bucket = bucket_of(f, one);
	if (*bucket == 0) {
		*vec_add(&f->list) = *one;
		*bucket = (uint32_t)f->list.n;
		f->list.at[f->list.n - 1].count = 0;
	}
	f->list.at[*bucket - 1].count++;
	f->list.at[*bucket - 1].profiles |= one->profiles;
}
