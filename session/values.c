/* Lists of words that the user gave. The words stay where they are; a list owns only its room. */
#include "session/values.h"

#include <stdlib.h>

#include "util/alloc.h"

void word_list_add(struct word_list *l, const char *word)
{
	l->item = xrealloc(l->item, l->n + 1, sizeof *l->item);
	l->item[l->n++] = word;
}

void word_list_release(struct word_list *l)
{
	free(l->item);
	*l = (struct word_list){ 0 };
}
