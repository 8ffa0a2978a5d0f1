/* Lists of words from the command line, and replacing or checking their placeholders. A word_list
 * borrows its words; words_copy() and words_replaced() copy them. */
#include "util/values.h"

#include <stdlib.h>
#include <string.h>

#include "util/alloc.h"

void word_list_add(struct word_list *l, const char *word)
{
	l->item = xrealloc(l->item, l->n + 1, sizeof *l->item);
	l->item[l->n++] = word;
}

void word_list_append(struct word_list *l, const struct word_list *words)
{
	for (size_t i = 0; i < words->n; i++)
		word_list_add(l, words->item[i]);
}

void word_list_release(struct word_list *l)
{
	free(l->item);
	*l = (struct word_list){ 0 };
}

size_t words_count(char *const *words)
{
	size_t n = 0;

	while (words[n])
		n++;
	return n;
}

char **words_copy(char *const *words, size_t more)
{
	size_t n = words_count(words);
	char **copy = xcalloc(n + more + 1, sizeof *copy);

	for (size_t i = 0; i < n; i++)
		copy[i] = xstrdup(words[i]);
	return copy;
}

void words_free(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

char *word_replaced(const char *word, const char *text, const char *by)
{
	char *out = xstrdup(""), *longer;
	const char *at;

	for (; (at = strstr(word, text)); word = at + strlen(text)) {
		longer = xasprintf("%s%.*s%s", out, (int)(at - word), word, by);
		free(out);
		out = longer;
	}
	longer = xasprintf("%s%s", out, word);
	free(out);
	return longer;
}

char **words_replaced(char *const *words, const char *text, const char *by)
{
	size_t n = words_count(words);
	char **copy = xcalloc(n + 1, sizeof *copy);

	for (size_t i = 0; i < n; i++)
		copy[i] = word_replaced(words[i], text, by);
	return copy;
}

bool words_name(const char *const *words, const char *word)
{
	for (; words && *words; words++)
		if (strcmp(*words, word) == 0)
			return true;
	return false;
}

bool words_have(char *const *words, const char *text)
{
	while (*words && !strstr(*words, text))
		words++;
	return *words != NULL;
}

/* Do the words differ by one letter: another, one more, one less, or two that changed places? */
static bool is_nearly(const char *a, size_t n, const char *b)
{
	const size_t m = strlen(b);
	size_t head = 0, tail = 0;

	while (head < n && head < m && a[head] == b[head])
		head++;
	while (tail < n - head && tail < m - head && a[n - 1 - tail] == b[m - 1 - tail])
		tail++;
	if (n == m && n - head - tail == 2)
		return a[head] == b[head + 1] && a[head + 1] == b[head];
	return n - head - tail <= 1 && m - head - tail <= 1;
}

char *word_misspelled(const char *word, const char **meant)
{
	static const struct {
		const char *name, *whole;
		/* also correct misspelled letters; short names would match too much */
		bool takes_letters;
	} known[] = { { "pool", SCRATCH_POOL, true },
		      { "dir", SCRATCH_DIR, false },
		      { "op", "{op}", false } };

	for (const char *at = strchr(word, '{'); at; at = strchr(at + 1, '{')) {
		const char *name = at + 1;
		const size_t n =
			strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

		if (name[n] != '}' || (at > word && at[-1] == '$')) /* ${POOL} is for a shell */
			continue;
		for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
			const bool is_other_case = n == strlen(known[i].name) &&
						   strncasecmp(name, known[i].name, n) == 0;

			if (n == strlen(known[i].name) && strncmp(name, known[i].name, n) == 0)
				break;
			if (!is_other_case &&
			    !(known[i].takes_letters && is_nearly(name, n, known[i].name)))
				continue;
			*meant = known[i].whole;
			return xasprintf("{%.*s}", (int)n, name);
		}
	}
	return NULL;
}
