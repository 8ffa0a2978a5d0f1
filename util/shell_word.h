/* Words for a shell. */
#ifndef UTIL_SHELL_WORD_H
#define UTIL_SHELL_WORD_H

/* The word as a shell reads it: in quotes where it needs them. free() it. */
char *shell_word(const char *word);

#endif
