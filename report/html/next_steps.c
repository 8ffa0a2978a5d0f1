/* Writes what to do next: commands to copy. Each command has a box; the script adds a copy button
 * to it. */
#include <inttypes.h>
#include <string.h>

#include "report/html/html.h"

static void box_begin(const struct page *p, const char *title)
{
	fprintf(p->f, "<div class=\"copy\"><p>%s</p><pre tabindex=\"0\">", title);
}

static void box_end(const struct page *p)
{
	fputs("</pre></div>\n", p->f);
}

static void put_command(const struct page *p, const char *title, const char *command)
{
	box_begin(p, title);
	put_text(p, command);
	box_end(p);
}

/* Writes the replay command with one more option. */
static void put_replay(const struct page *p, const char *title, const char *option,
		       const char *replay)
{
	static const char begin[] = "pmend crash ";

	if (strncmp(replay, begin, strlen(begin)) != 0 || !strstr(replay, " --replay ") ||
	    strstr(replay, "--show-choices"))
		return;
	box_begin(p, title);
	fprintf(p->f, "%s%s ", begin, option);
	put_text(p, replay + strlen(begin));
	box_end(p);
}

/* Writes a pattern as suppression files have it: characters with a meaning there are quoted. */
static void put_pattern(const struct page *p, const char *key, const char *text)
{
	static const char signs[] = "*?[]\\";
	/* a star stands for the rest */
	const char *end = text ? text + cut_at(text, NAME_SHOWN_BYTES) : NULL;
	size_t len;

	if (!text || !*text || strpbrk(text, "\n\r"))
		return;
	fprintf(p->f, "\t%s: ", key);
	for (; *text && text < end; text += len) {
		if (strchr(signs, *text))
			putc('\\', p->f);
		len = 1 + strcspn(text + 1, signs);
		len = len < (size_t)(end - text) ? len : (size_t)(end - text);
		escape_html(p->f, text, len);
	}
	fputs(*text ? "*\n" : "\n", p->f);
}

static void put_suppression(const struct page *p, const struct bug *b)
{
	const struct bug_frame *frame = bug_frame(b);

	box_begin(p, "Hide it: a block for --suppress FILE");
	fputs("{\n", p->f);
	put_pattern(p, "kind", b->kind);
	if (frame) {
		put_pattern(p, "function", frame->function);
		put_pattern(p, "file", frame->file ? path_base(frame->file) : NULL);
	}
	fprintf(p->f, "\tid: %s\n}", b->id);
	box_end(p);
}

void put_next(const struct page *p, const struct bug *b)
{
	const struct bug_crash *c = b->crash;

	fputs("<details class=\"next\"><summary>Do next: replay, debug, suppress</summary>\n",
	      p->f);
	if (c && c->replay) {
		put_command(p,
			    strstr(c->replay, "--show-choices")
				    ? "Show what recovery read, and what it could have read"
				    : "Replay exactly this crash state",
			    c->replay);
		put_replay(p, "Debug recovery on this state", "--gdb", c->replay);
		put_replay(p, "List the reads of recovery that had a choice", "--show-choices",
			   c->replay);
	}
	if (b->input)
		put_command(p, "Run it on the input that shows it", b->input->command);
	put_suppression(p, b);
	fputs("</details>\n", p->f);
}
