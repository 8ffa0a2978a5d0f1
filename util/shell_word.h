/* Words for a shell. */
#ifndef UTIL_SHELL_WORD_H
#define UTIL_SHELL_WORD_H

#include <stdbool.h>
#include <stdio.h>

/* The word as a shell reads it: in quotes where it needs them. free() it. */
char *shell_word(const char *word);
/* Words, up to NULL, each with a blank before it. */
void shell_words_print(char *const *words, FILE *out);
/* Takes one word of a line from *at into out, without its quotes and backslashes; nothing is
 * expanded. false: a quote is not closed, or a backslash ends the line. */
bool shell_word_split(const char **at, char *out);
/* All words of a line, as words_free() frees them; NULL: as above, or there is none. */
char **shell_words_split(const char *line);

#endif
