/* Handles the stacks of a pmemcheck log. The log names frames where a trace has only addresses, so
 * each name goes into the trace as metadata of its address, and import_frame_find() reads it
 * back. */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "trace/import_internal.h"

#define FRAME_TEXT_BYTES 2000
#define FRAME_KEY "frame:0x%" PRIx64

/* Gives the text after the address and ": " of a frame, such as "0x109201: fill (t.c:20)",
 * "0x109201: fill (in /bin/t)" or "0x109201: ???". NULL if p is not at a frame. */

static const char *frame_start(const char *p)
{
	const char *q;

	if (p[0] != '0' || p[1] != 'x')
		return NULL;
	for (q = p + 2; isxdigit((unsigned char)*q); q++)
		;
	return q > p + 2 && q - p <= 18 && q[0] == ':' && q[1] == ' ' ? q + 2 : NULL;
}

/* Gives the end of the frame at p: the ';' before the next frame, or the end of the text. */
static const char *frame_end(const char *p)
{
	const char *semicolon = p;

	while ((semicolon = strchr(semicolon, ';')) && !frame_start(semicolon + 1))
		semicolon++;
	return semicolon ? semicolon : p + strlen(p);
}

bool import_stack_is_whole(const char *text)
{
	size_t n = strlen(text);

	return (n >= 1 && text[n - 1] == ')') || (n >= 3 && strcmp(text + n - 3, "???") == 0);
}

/* Gives the length of a frame's text without what Valgrind may have put behind it. */
static size_t frame_text_len(const char *name, size_t len)
{
	const char *in = memmem(name, len, " (in ", 5), *p;
	size_t i;

	for (i = 0; i < len; i++) {
		p = name + i;
		if (*p == ':' && isdigit((unsigned char)p[1]) &&
		    p[1 + strspn(p + 1, "0123456789")] == ')')
			return i + 2 + strspn(p + 1, "0123456789");
	}
	p = in ? memchr(in, ')', len - (size_t)(in - name)) : NULL;
	if (p)
		return (size_t)(p + 1 - name);
	return len > 3 && memcmp(name, "???", 3) == 0 ? 3 : len;
}

static void frame_name(struct import *im, uint64_t pc, const char *name, size_t len)
{
	char key[32], text[FRAME_TEXT_BYTES + 1];
	const char *inlined = memmem(name, len, ")0x", 3);

	if (map_get(&im->frames, pc))
		return;
	map_set(&im->frames, pc, im);
	if (inlined) /* with --read-inline-info=yes, the innermost function comes first */
		len = (size_t)(inlined + 1 - name);
	len = frame_text_len(name, len);
	snprintf(key, sizeof key, FRAME_KEY, pc);
	snprintf(text, sizeof text, "%.*s", len < FRAME_TEXT_BYTES ? (int)len : FRAME_TEXT_BYTES,
		 name);
	import_emit_meta(im, key, text);
}

int import_stack_take(struct import *im, const char *p, struct import_stack *stack)
{
	VEC(uint64_t) pcs = { 0 };
	size_t i;

	while (*p == ';') {
		const char *name = frame_start(++p), *end = name ? frame_end(name) : NULL;

		if (!name) {
			vec_release(&pcs);
			return import_bad(im, "cannot read a frame of this store");
		}
		*vec_add(&pcs) = strtoull(p, NULL, 16);
		frame_name(im, pcs.at[pcs.n - 1], name, (size_t)(end - name));
		p = end;
	}
	*stack = (struct import_stack){ 0, pcs.n ? pcs.at[0] : 0 };
	for (i = pcs.n; i > 1; i--)
		stack->node = writer_node(im->w, stack->node, pcs.at[i - 1], false);
	vec_release(&pcs);
	return 0;
}

/* Reads "fill (t.c:20)", "fill (in /bin/t)" or "???". */
bool import_frame_find(const struct trace *t, uint64_t pc, struct symbol *symbol,
		       struct arena *arena)
{
	const char *text, *place, *colon, *end;
	char key[32];

	snprintf(key, sizeof key, FRAME_KEY, pc);
	text = trace_meta(t, key);
	if (!text)
		return false;
	/* without an object, the offset is the address itself */
	*symbol = (struct symbol){ .offset = pc };
	end = text + strlen(text);
	place = strstr(text, " (in ");
	if (place && end[-1] == ')') {
		if (strcmp(place, " (in \?\?\?)") != 0)
			symbol->object =
				arena_string(arena, place + 5, (size_t)(end - 1 - (place + 5)));
	} else if ((place = end[-1] == ')' ? memrchr(text, '(', (size_t)(end - text)) : NULL) &&
		   place > text) {
		colon = memrchr(place, ':', (size_t)(end - place));
		if (colon && isdigit((unsigned char)colon[1])) {
			symbol->file = arena_string(arena, place + 1, (size_t)(colon - place - 1));
			symbol->line = (uint32_t)atol(colon + 1);
			place--;
		} else {
			place = end;
		}
	} else {
		place = end;
	}
	if (place > text && strncmp(text, "???", 3) != 0)
		symbol->function = arena_string(arena, text, (size_t)(place - text));
	return true;
}
