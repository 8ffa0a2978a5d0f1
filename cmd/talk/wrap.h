/* Prints text on a terminal, wrapped at the terminal's width. */
#ifndef CMD_TALK_WRAP_H
#define CMD_TALK_WRAP_H

#include <stdio.h>

struct wrap {
	FILE *out;
	unsigned width, indent; /* indent: of the lines after the first */
	unsigned column;        /* where the next word begins */
};

/* Begins a text with the terminal's width, or 80 columns if there is none. indent is at most half
 * of that. */
void wrap_begin(struct wrap *w, FILE *out, unsigned indent);
void wrap_word(struct wrap *w, const char *word); /* is never broken */
void wrap_text(struct wrap *w, const char *text); /* its words, one after the other */
/* ends the line; the next one begins at the first column */
void wrap_end(struct wrap *w);

#endif
