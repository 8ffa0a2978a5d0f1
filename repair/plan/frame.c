/* Finds the source function of a frame of the report: the source file that contains it, and the
 * call in it. Refuses a line that has changed since the report was made. */
#include <ctype.h>
#include <string.h>

#include "repair/plan/internal.h"

static bool unit_has(const struct source_unit *u, const char *file)
{
	for (size_t i = 0; i < u->nfunctions; i++)
		if (u->functions[i].body && strcmp(u->functions[i].file, file) == 0)
			return true;
	return false;
}

static bool is_compiled(const struct repair *r, const char *file)
{
	for (size_t i = 0; i < r->code->db->n; i++)
		if (strcmp(r->code->db->files[i], file) == 0)
			return true;
	return false;
}

/* Opens the unit that contains frame `from`: the frame's own file, or that of an outer frame. NULL
 * with a reason. */
static struct source_unit *unit_of_frame(struct repair *r, const struct repair_place *p,
					 size_t from, const char **why)
{
	const char *wanted = from < p->nframes && p->frames[from].file
				     ? file_resolve(r->code, p->frames[from].file)
				     : NULL;

	if (!wanted) {
		*why = from < p->nframes && p->frames[from].file
			       ? text_format(r->code, "%s is not there", p->frames[from].file)
			       : "the report does not say where in the source it is";
		return NULL;
	}
	*why = text_format(r->code, "%s belongs to no file of compile_commands.json", wanted);
	/* code of a header is in the unit of a function that calls it */
	for (size_t i = from; i < p->nframes; i++) {
		const char *file =
			p->frames[i].file ? file_resolve(r->code, p->frames[i].file) : NULL;
		struct source_unit *u =
			file && is_compiled(r, file) ? unit_open(r->code, file, why) : NULL;

		if (u && unit_has(u, wanted))
			return u;
		if (file && is_compiled(r, file) && !u)
			return NULL;
	}
	return NULL;
}

/* Asks whether the line is as it was when the report was made. */
static bool file_is_as_reported(const struct file *f, const struct repair_frame *frame)
{
	uint32_t at = 0, end;

	/* JSON lost bytes that are not UTF-8 */
	if (!frame->text || !frame->line || strstr(frame->text, "\xef\xbf\xbd"))
		return true;
	for (uint32_t i = 1; i < frame->line && at < f->len_bytes; i++)
		at = text_line_end(f, at) + 1;
	if (at >= f->len_bytes)
		return false;
	end = text_line_end(f, at);
	while (at < end && isspace((unsigned char)f->text[at]))
		at++;
	while (end > at && isspace((unsigned char)f->text[end - 1]))
		end--;
	return strlen(frame->text) == end - at && memcmp(frame->text, f->text + at, end - at) == 0;
}

/* Fills in unit, file and function for frame i of the place. */
int fix_enter_frame(struct repair *r, struct fix *x, const struct repair_place *p, size_t i,
		    const char **why)
{
	const char *path;

	if (i >= p->nframes || !p->frames[i].file) {
		*why = "the report does not say where in the source it is";
		return -1;
	}
	x->unit = unit_of_frame(r, p, i, why);
	path = x->unit ? file_resolve(r->code, p->frames[i].file) : NULL;
	x->file = path ? file_open(r->code, path) : NULL;
	if (!x->file)
		return -1;
	if (!file_is_as_reported(x->file, &p->frames[i])) {
		*why = text_format(
			r->code,
			"%s:%u is not the line that was reported: build, check and fix again",
			p->frames[i].file, p->frames[i].line);
		return -1;
	}
	x->function = function_at(x->unit, path, p->frames[i].line);
	if (!x->function)
		*why = text_format(r->code, "%s:%u is in no function", p->frames[i].file,
				   p->frames[i].line);
	return x->function ? 0 : -1;
}

const struct source_node *call_of_frame(struct repair *r, struct fix *at,
					const struct repair_place *p, size_t i, const char *callee,
					const char **why)
{
	const struct source_node *call;

	if (i >= p->nframes || fix_enter_frame(r, at, p, i, why) < 0)
		return NULL;
	call = call_at(at->function, callee, p->frames[i].line, p->frames[i].column);
	if (!call)
		*why = text_format(r->code, "%s is not called by its name at %s:%u", callee,
				   p->frames[i].file, p->frames[i].line);
	else if (macro_use(at->unit, at->file->path, call))
		*why = text_format(r->code, "a macro calls %s at %s:%u", callee, p->frames[i].file,
				   p->frames[i].line);
	else
		return call;
	return NULL;
}
