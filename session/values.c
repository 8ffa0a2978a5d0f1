/* Lists of words: those that the user gave stay where they are, and the list owns only its room; those of a command line are copies. */
#include "session/values.h"

#include <stdlib.h>

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
