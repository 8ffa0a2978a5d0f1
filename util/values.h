/* Values as a user gives them: words that may be repeated, a number that may be missing. */
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

void word_list_add(struct word_list *l, const char *word); /* borrows it */
void word_list_append(struct word_list *l, const struct word_list *words);
void word_list_release(struct word_list *l);

/* Command lines and environments: malloc'd words in a malloc'd row that ends with NULL. */
size_t words_count(char *const *words);
char **words_copy(char *const *words, size_t more); /* with room for more */
void words_free(char **words);                      /* may be NULL */
/* A copy in which a text, wherever it occurs in a word, is replaced by another. */
char **words_replaced(char *const *words, const char *text, const char *by);
char *word_replaced(const char *word, const char *text, const char *by); /* free() it */

/* What a command line says for the path of a scratch pool. */
#define SCRATCH_POOL "{pool}"
/* and of a scratch folder, all of whose files are followed */
#define SCRATCH_DIR "{dir}"

/* A word in braces that was probably meant to be a placeholder: {Pool}, {poool}, {OP}. Gives that,
 * and in *meant what it is without the mistake; free() it. NULL: there is none. Other braces mean
 * nothing to us. */
char *word_misspelled(const char *word, const char **meant);
bool words_have(char *const *words, const char *text);
/* Is it one of the words? They end with NULL; NULL: there are none. */
bool words_name(const char *const *words, const char *word);

#endif
