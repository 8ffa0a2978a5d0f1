/* Values as a user gives them: words that may be repeated, a number that may be missing. */
#ifndef SESSION_VALUES_H
#define SESSION_VALUES_H

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
void words_free(char **words);			    /* may be NULL */

#endif
