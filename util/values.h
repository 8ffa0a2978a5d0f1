/* Lists of words from the command line, such as those of a repeated option, and a number that may
 * be missing. */
#ifndef UTIL_VALUES_H
#define UTIL_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct word_list {
	const char **item;
	size_t n;
};

struct optional_number {
	uint64_t n;
	bool is_set;
};

void word_list_add(struct word_list *l, const char *word); /* borrows the word */
void word_list_append(struct word_list *l, const struct word_list *words);
void word_list_release(struct word_list *l);

/* Counts the words of a list that ends with NULL. The functions below work on such lists, which are
 * command lines and environments: an allocated array of allocated words. */
size_t words_count(char *const *words);
char **words_copy(char *const *words, size_t more); /* a copy with room for that many more words */
void words_free(char **words);                      /* may be NULL */
/* Copies the words, and replaces every occurrence of text in the copies. */
char **words_replaced(char *const *words, const char *text, const char *by);
char *word_replaced(const char *word, const char *text, const char *by); /* free() it */

/* The placeholder for the path of a scratch pool. */
#define SCRATCH_POOL "{pool}"
/* and of a scratch folder, all of whose files are followed */
#define SCRATCH_DIR "{dir}"

/* Finds a misspelled placeholder in the word, such as {Pool}, {poool} or {OP}. Returns it (free()
 * it) and sets *meant to the right spelling; NULL if there is none. Other words in braces belong to
 * the user's own command. */
char *word_misspelled(const char *word, const char **meant);
/* Does any word contain the text? */
bool words_have(char *const *words, const char *text);
/* Asks whether the word is in the list. The list ends with NULL; a list that is NULL is empty. */
bool words_name(const char *const *words, const char *word);

#endif
