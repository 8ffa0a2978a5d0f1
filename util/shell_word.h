/* Quotes and splits words as a shell does. */
#ifndef UTIL_SHELL_WORD_H
#define UTIL_SHELL_WORD_H

#include <stdbool.h>
#include <stdio.h>

/* Gives the word, with quotes if a shell needs them. free() it. */
char *shell_word(const char *word);
/* Prints the words of a list that ends with NULL, each after a blank. */
void shell_words_print(char *const *words, FILE *out);
/* Moves the next word of a line from *at to out, without its quotes and backslashes. Expands
 * nothing. false if a quote is not closed, or if a backslash ends the line. */
bool shell_word_split(const char **at, char *out);
/* Splits a line into a list of its words; free it with words_free(). NULL if shell_word_split()
 * fails, or if there is no word. */
char **shell_words_split(const char *line);

#endif
