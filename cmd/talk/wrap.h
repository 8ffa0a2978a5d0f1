/* Text for a terminal: wrapped at its width. */
#ifndef CMD_TALK_WRAP_H
#define CMD_TALK_WRAP_H

#include <stdio.h>

struct wrap {
	FILE *out;
	unsigned width, indent; /* of the lines after the first */
	unsigned column;        /* where the next word begins */
};

/* The terminal's width, or 80 columns where there is none. indent is no more than half of that. */
void wrap_begin(struct wrap *w, FILE *out, unsigned indent);
void wrap_word(struct wrap *w, const char *word); /* stays on one line */
void wrap_text(struct wrap *w, const char *text); /* its words, one after the other */
/* the line ends; the next begins at its first column */
void wrap_end(struct wrap *w);

#endif
