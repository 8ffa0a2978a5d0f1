/* The start texts, one row each: words, settings, an object. They fill the bytes of an input about
 * which nothing is known yet. The words, names and numbers in these texts are short. If the program
 * compares such a word with another word, a later input has the other word there
 * (explore/path/token.h): with "fast", for example, "a=text" becomes "a=fast". */
#include "explore/start_texts.h"

#include <string.h>

static const struct text {
	const char *looked_for; /* the program looks for any of these bytes */
	const char *text;
	bool is_repeated;
} texts[TEXTS] = {
	{ "\n ", "1 ", true },
	{ "[=", "[a]\na=text\n", true },
	{ "{", "{\"a\":12}", false },
};

bool text_is_asked_for(unsigned text, const struct path *p)
{
	for (size_t i = 0; i < p->steps.n; i++)
		if (p->steps.at[i].wanted > 1 &&
		    strchr(texts[text].looked_for, (int)p->steps.at[i].wanted - 1))
			return true;
	return false;
}

void text_fill(unsigned text, uint8_t *bytes, size_t len_bytes)
{
	size_t n = strlen(texts[text].text);

	for (size_t i = 0; i < len_bytes && (i < n || texts[text].is_repeated); i++)
		bytes[i] = (uint8_t)texts[text].text[i % n];
}
