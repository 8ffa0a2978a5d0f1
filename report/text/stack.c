/* Prints stacks. The short form has the user's frames up to main; calls into a library are a few
 * words at the frame that made them, "in libpmemobj: pmemobj_create". With --verbose, every frame
 * is printed. */
#include <inttypes.h>
#include <string.h>

#include "report/text/text.h"
#include "trace/owner.h"
#include "util/str.h"

#define STACK_INNER 24 /* of a deep stack: frames printed at the inner */
#define STACK_OUTER 8  /* and at the outer end */
#define SHORT_INNER 5  /* the same in the short form */
#define SHORT_OUTER 2
#define CALLERS_SHOWN 6 /* callers in one line */

/* ---- the short form ---- */

/* A frame of the user's code, and what it called in a library. */
struct step {
	const struct bug_frame *frame;
	const struct bug_frame *library; /* NULL: it called no library */
	/* a signal interrupted this frame; the inner frames belong to the handler */
	bool is_signal;
};

typedef VEC(struct step) steps;

static bool is_library(const struct text *t, const struct bug_frame *f)
{
	/* In a static program, these functions call main or a thread's function. */
	static const char *const outermost[] = { "_start",  "start_thread", "clone",
						 "__clone", "clone3",       "__clone3" };
	const struct libraries libraries = { t->r->library_globs.at, t->r->library_globs.n };

	for (size_t i = 0; f->function && !f->file && i < sizeof outermost / sizeof *outermost; i++)
		if (strcmp(f->function, outermost[i]) == 0)
			return true;
	return owner_of_code(&libraries, f->object, f->file, f->function) != OWNER_USER;
}

const char *text_death(const struct text *t, const struct bug_crash *c)
{
	for (size_t i = 0; i < c->nframes; i++)
		if (!is_library(t, &c->frames[i]))
			return c->frames[i].function;
	return NULL;
}

static bool is_main(const struct bug_frame *f)
{
	return f->function && strcmp(f->function, "main") == 0;
}

/* Chooses the frames of the short form. Frames inside the shown one are library code. Library
 * frames outside of main, or of what calls a thread's function, are left out. */
static void take_steps(const struct text *t, const struct bug_location *l, steps *out)
{
	const struct bug_frame *library = NULL, *shown = bug_location_frame(l);
	bool is_signal = false;

	for (size_t i = 0; i < l->nframes; i++) {
		const struct bug_frame *f = &l->frames[i];

		is_signal |= f->is_signal;
		if (f < shown || (f > shown && is_library(t, f))) {
			library = f;
			continue;
		}
		*vec_add(out) = (struct step){ f, library, is_signal };
		library = NULL;
		is_signal = false;
		if (is_main(f))
			break;
	}
}

static bool is_same_frame(const struct bug_frame *a, const struct bug_frame *b)
{
	return a->line == b->line && a->offset == b->offset && str_same(a->function, b->function) &&
	       str_same(a->file, b->file) && str_same(a->object, b->object);
}

/* Counts the outer frames that an earlier location has, too. At least one frame of the location
 * itself is kept. */
static size_t count_shared(const struct text *t, const struct bug_location *locations, size_t i,
			   const steps *own)
{
	size_t most = 0;

	for (size_t k = 0; k < i; k++) {
		steps other = { 0 };
		size_t n = 0;

		take_steps(t, &locations[k], &other);
		while (n + 1 < own->n && n + 1 < other.n &&
		       is_same_frame(own->at[own->n - 1 - n].frame,
				     other.at[other.n - 1 - n].frame))
			n++;
		most = n > most ? n : most;
		vec_release(&other);
	}
	return most;
}

/* Prints the library's name: "libpmemobj" for /usr/lib/libpmemobj.so.1. */
static void put_library(const struct text *t, const struct bug_frame *f)
{
	const char *name = path_base(f->object), *end = strstr(name, ".so");

	if (*name)
		escape_text(t->f, name, end ? (size_t)(end - name) : strlen(name));
	else
		fputs("a library", t->f);
}

/* Prints a function's name. The C library has several versions of a function, one per processor:
 * __strncpy_avx2 is printed as "strncpy". In a static program they have no lines. */
static void put_function(const struct text *t, const struct bug_frame *f)
{
	static const char *const variants[] = { "_avx",       "_sse",     "_ssse", "_evex", "_erms",
						"_unaligned", "_generic", "_mops", "_sve" };
	const char *name = f->function;
	size_t len = strlen(name);

	if (f->object && (owner_of_object(f->object) == OWNER_RUNTIME || !f->file) &&
	    strncmp(name, "__", 2) == 0) {
		name += strncmp(name, "__libc_", 7) == 0 ? 7 : 2;
		len = strlen(name);
		for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
			const char *at = strstr(name, variants[i]);

			if (at && at > name && (size_t)(at - name) < len)
				len = (size_t)(at - name);
		}
	}
	escape_text(t->f, name, len);
}

/* Prints, at the beginning of a line of a stack, the role in the first line and blanks in the
 * others. */
static void put_margin(const struct text *t, const char **role, int width)
{
	fputs("  ", t->f);
	if (*role)
		text_put(t, *role);
	else
		fprintf(t->f, "%*s", width, "");
	putc(' ', t->f);
	*role = NULL;
}

/* Prints "update (app.c:41)". */
static void text_frame(const struct text *t, const struct bug_frame *frame)
{
	text_put(t, frame->function ? frame->function : "??");
	if (frame->object || (frame->file && frame->line)) {
		fputs(" (", t->f);
		text_place(t, frame);
		putc(')', t->f);
	}
}

/* Prints ", in libc: strcpy"; of a helper in the user's own code ", in set (fields.h:12)". */
static void put_called(const struct text *t, const struct bug_frame *called)
{
	fputs(", in ", t->f);
	if (called->object && owner_of_object(called->object) == OWNER_USER && called->file) {
		text_frame(t, called);
		return;
	}
	put_library(t, called);
	if (called->function) {
		fputs(": ", t->f);
		put_function(t, called);
	}
}

static void put_short(const struct text *t, const struct bug_location *locations, size_t at)
{
	const char *role = locations[at].role ? locations[at].role : "";
	const int width = (int)escape_text(NULL, role, strlen(role));
	size_t nshared, n, left_out;
	steps own = { 0 };

	take_steps(t, &locations[at], &own);
	nshared = count_shared(t, locations, at, &own);
	n = own.n - nshared;
	left_out = n > SHORT_INNER + SHORT_OUTER ? n - SHORT_INNER - SHORT_OUTER : 0;
	for (size_t i = 0; i < n; i++) {
		if (i == SHORT_INNER && left_out) {
			put_margin(t, &role, width);
			fprintf(t->f, "... %zu more ...\n", left_out);
			i += left_out;
		}
		if (own.at[i].is_signal) {
			put_margin(t, &role, width);
			fputs("<signal handler called>\n", t->f);
		}
		put_margin(t, &role, width);
		fputs(i ? "by " : "at ", t->f);
		text_frame(t, own.at[i].frame);
		if (own.at[i].library)
			put_called(t, own.at[i].library);
		fputs(i + 1 == n && nshared ? ", called as above\n" : "\n", t->f);
	}
	vec_release(&own);
}

/* ---- all of it ---- */

static void put_whole(const struct text *t, const struct bug_location *l)
{
	const char *role = l->role ? l->role : "";
	const int width = (int)escape_text(NULL, role, strlen(role));
	const size_t left_out =
		l->nframes > STACK_INNER + STACK_OUTER ? l->nframes - STACK_INNER - STACK_OUTER : 0;

	for (size_t i = 0; i < l->nframes; i++) {
		if (i == STACK_INNER && left_out) {
			put_margin(t, &role, width);
			fprintf(t->f, "... %zu more ...\n", left_out);
			i += left_out;
		}
		if (l->frames[i].is_signal) {
			put_margin(t, &role, width);
			fputs("<signal handler called>\n", t->f);
		}
		put_margin(t, &role, width);
		fputs(i ? "by " : "at ", t->f);
		text_frame(t, &l->frames[i]);
		fputs(l->frames[i].is_inlined ? " [inlined]\n" : "\n", t->f);
	}
}

void text_stack(const struct text *t, const struct bug_location *locations, size_t i)
{
	if (locations[i].nframes == 0) {
		fputs("  ", t->f);
		text_put(t, locations[i].role ? locations[i].role : "");
		fputs(" at ??\n", t->f);
	} else if (t->o->verbose) {
		put_whole(t, &locations[i]);
	} else {
		put_short(t, locations, i);
	}
}

void text_callers(const struct text *t, const struct bug_location *l)
{
	steps all = { 0 };
	size_t i;

	take_steps(t, l, &all);
	for (i = 1; i < all.n && i <= CALLERS_SHOWN; i++) {
		fputs(i > 1 ? ", " : " by ", t->f);
		text_frame(t, all.at[i].frame);
	}
	fputs(i < all.n ? ", ..." : "", t->f);
	vec_release(&all);
}
