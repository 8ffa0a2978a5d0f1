/* Lists of words: those that the user gave stay where they are, and the list owns only its room;
 * those of a command line are copies. */
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

bool words_have(char *const *words, const char *text)
{
	while (*words && !strstr(*words, text))
		words++;
	return *words != NULL;
}
