/* Prints words, and begins a new line if the next word does not fit. A word that is wider than a
 * line gets its own line. */
#include "cmd/talk/wrap.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NO_TERMINAL = 80, NARROWEST = 40 };

static unsigned width_of(FILE *out)
{
	struct winsize size;

	if (ioctl(fileno(out), TIOCGWINSZ, &size) < 0 || size.ws_col == 0)
		return NO_TERMINAL;
	return size.ws_col < NARROWEST ? NARROWEST : size.ws_col;
}

void wrap_begin(struct wrap *w, FILE *out, unsigned indent)
{
	unsigned width = width_of(out);

	*w = (struct wrap){ .out = out,
			    .width = width,
			    .indent = indent < width / 2 ? indent : width / 2 };
}

static void put_word(struct wrap *w, const char *word, size_t len)
{
	if (w->column > w->indent && w->column + 1 + len > w->width) {
		fprintf(w->out, "\n%*s", (int)w->indent, "");
		w->column = w->indent;
	} else if (w->column > w->indent) {
		fputc(' ', w->out);
		w->column++;
	} else if (w->column < w->indent) { /* the first line, after its label */
		fprintf(w->out, "%*s", (int)(w->indent - w->column), "");
		w->column = w->indent;
	}
	fwrite(word, 1, len, w->out);
	w->column += (unsigned)len;
}

void wrap_word(struct wrap *w, const char *word)
{
	put_word(w, word, strlen(word));
}

void wrap_text(struct wrap *w, const char *text)
{
	while (*(text += strspn(text, " "))) {
		size_t len = strcspn(text, " ");

		put_word(w, text, len);
		text += len;
	}
}

void wrap_end(struct wrap *w)
{
	fputc('\n', w->out);
	w->column = 0;
}
