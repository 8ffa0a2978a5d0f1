/* Keeps what dumps printed. Dumps at neighbouring moments differ little, so a text is stored as its
 * difference from the one before. Every 64th text is stored whole, so that reading one takes few
 * steps. */
#include "crash/search/dump_texts.h"

#include <string.h>

#define WHOLE_EVERY 64u
#define KEPT_MAX ((size_t)256 << 20) /* bytes of all texts */

static size_t same_before(const char *a, size_t alen, const char *b, size_t blen)
{
	size_t n = 0;

	while (n < alen && n < blen && a[n] == b[n])
		n++;
	return n;
}

static size_t same_after(const char *a, size_t alen, const char *b, size_t blen)
{
	size_t n = 0;

	while (n < alen && n < blen && a[alen - 1 - n] == b[blen - 1 - n])
		n++;
	return n;
}

static char *copy(const char *bytes, size_t len_bytes)
{
	char *s = xmalloc(len_bytes + 1);

	if (len_bytes)
		memcpy(s, bytes, len_bytes);
	s[len_bytes] = '\0';
	return s;
}

void dump_texts_add(struct dump_texts *t, uint64_t hash, const char *text, size_t len_bytes)
{
	struct dump_text one = { .hash = hash };

	if (t->kept_bytes >= KEPT_MAX || map_get(&t->by_hash, hash))
		return;
	if (t->list.n % WHOLE_EVERY) {
		one.same_before = same_before(t->last, t->last_len, text, len_bytes);
		one.same_after =
			same_after(t->last + one.same_before, t->last_len - one.same_before,
				   text + one.same_before, len_bytes - one.same_before);
	}
	one.len_bytes = len_bytes - one.same_before - one.same_after;
	one.middle = copy(text + one.same_before, one.len_bytes);
	t->kept_bytes += one.len_bytes + sizeof one;
	*vec_add(&t->list) = one;
	map_set(&t->by_hash, hash, (void *)(uintptr_t)t->list.n);
	free(t->last);
	t->last = copy(text, len_bytes);
	t->last_len = len_bytes;
}

char *dump_texts_find(const struct dump_texts *t, uint64_t hash)
{
	size_t at = (size_t)(uintptr_t)map_get(&t->by_hash, hash), len = 0;
	char *text = NULL, *printable;

	if (at-- == 0)
		return NULL;
	for (size_t i = at - at % WHOLE_EVERY; i <= at; i++) {
		const struct dump_text *d = &t->list.at[i];
		const size_t newlen = d->same_before + d->len_bytes + d->same_after;
		char *next = xmalloc(newlen + 1);

		if (d->same_before)
			memcpy(next, text, d->same_before);
		memcpy(next + d->same_before, d->middle, d->len_bytes);
		if (d->same_after)
			memcpy(next + d->same_before + d->len_bytes, text + len - d->same_after,
			       d->same_after);
		next[newlen] = '\0';
		free(text);
		text = next;
		len = newlen;
	}
	printable = dump_text_of(text, len);
	free(text);
	return printable;
}

void dump_texts_release(struct dump_texts *t)
{
	for (size_t i = 0; i < t->list.n; i++)
		free(t->list.at[i].middle);
	vec_release(&t->list);
	map_release(&t->by_hash);
	free(t->last);
	*t = (struct dump_texts){ 0 };
}

char *dump_text_of(const char *bytes, size_t len_bytes)
{
	static const char symbol[] = "\xe2\x90\x80";
	size_t nzeros = 0, n = 0;
	char *s;

	for (size_t i = 0; i < len_bytes; i++)
		nzeros += bytes[i] == '\0';
	s = xmalloc(len_bytes + nzeros * (sizeof symbol - 2) + 1);
	for (size_t i = 0; i < len_bytes; i++)
		if (bytes[i]) {
			s[n++] = bytes[i];
		} else {
			memcpy(s + n, symbol, sizeof symbol - 1);
			n += sizeof symbol - 1;
		}
	s[n] = '\0';
	return s;
}
