/* Makes what a report says about the recording: the command, how it ended (the trace is damaged,
 * the first process ended badly, or another process or thread was cut off), and what was not looked
 * at. */
#include "account/recorded.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/recorder.h"
#include "source/locate.h"
#include "trace/followed.h"
#include "util/alloc.h"
#include "util/proc.h"

const char *recorded_loss(const struct trace *t)
{
	return trace_is_cut_off(t) ? NULL : trace_damage(t);
}

static void set_ending(struct report *r, const char *how, uint32_t code, char *text)
{
	report_set_ending(r, &(struct report_ending){ .how = how, .code = code, .text = text });
	free(text);
}

/* Makes "; its last event is at store.c:12 (put)"; empty if that is unknown. free() it. */
static char *place_text(const struct trace *t, const struct trace_site *site)
{
	struct locator *l = locator_new(t, NULL);
	const struct frame *f = site ? locate(l, site) : NULL;
	const struct symbol *s = f ? f->symbol : NULL;
	char *text;

	if (s && s->function && s->file && s->line)
		text = xasprintf("; its last event is at %s:%u (%s)", s->file, s->line,
				 s->function);
	else
		text = s && s->function ? xasprintf("; its last event is in %s", s->function)
					: xstrdup("");
	locator_free(l);
	return text;
}

static char *late_text(const struct trace *t, uint32_t seconds, const struct trace_site *last)
{
	char *place = place_text(t, last), *text;

	text = xasprintf("The program still ran after %u s (--max-time), and was ended%s", seconds,
			 place);
	free(place);
	return text;
}

char *recorded_cut_short(const struct trace *t)
{
	const struct pmt_ending e = trace_ending(t);

	return e.how == PMT_END_TIME
		       ? xasprintf("the program was ended after %u s (--max-time)", e.code)
		       : NULL;
}

void recorded_add_ending(struct report *r, const struct trace *t, enum cut_extent cut,
			 const struct trace_site *last)
{
	struct pmt_ending e = trace_ending(t);
	char name[64];

	if (recorded_loss(t))
		set_ending(r, "damage", 0,
			   xasprintf("The recording is damaged: %s", recorded_loss(t)));
	else if (e.how == PMT_END_TIME)
		set_ending(r, "time", 0, late_text(t, e.code, last));
	else if (e.how == PMT_END_SIGNAL)
		set_ending(r, "signal", e.code,
			   xasprintf("The recording ended when the program was killed by %s",
				     proc_signal_name((int)e.code, name, sizeof name)));
	else if (e.how == PMT_END_EXIT && e.code != 0)
		set_ending(r, "exit", e.code,
			   xasprintf("The program ended with exit status %u", e.code));
	else if (e.how == PMT_END_EXIT && cut == CUT_THREAD && report_nunflushed(r) > 0)
		set_ending(
			r, "thread", 0,
			xstrdup("A thread was still running when another one ended the program"));
	else if (e.how == PMT_END_EXIT && cut == CUT_PROCESS)
		set_ending(r, "process", 0,
			   xstrdup("A process that the program started was killed"));
	else if (e.how != PMT_END_EXIT && cut == CUT_PROCESS)
		set_ending(
			r, "unknown", 0,
			xstrdup("The recording ended abruptly: the program was killed, or is still running"));
}

/* ---- other notes ---- */

const char recorded_trusted[] =
	"Flushes with only a dmb of PMDK's libraries after them count as complete, because PMDK relies on that, although the "
	"architecture does not guarantee it; --no-trust reports them";

const char recorded_sandbox[] =
	"The program was recorded without its seccomp filter, which would block the recorder's own system calls";

char *recorded_uncompared(const struct trace *t)
{
	const char *file = trace_meta(t, "uncompared");

	return file ? xasprintf("Whether something else changed a file was not looked at: %s", file)
		    : NULL;
}

size_t recorded_profiles(unsigned bits, const char *names[FILES_PROFILES])
{
	size_t n = 0;

	for (enum files_profile p = 0; p < FILES_PROFILES; p++)
		if (bits & 1u << p)
			names[n++] = files_profile_name(p);
	return n;
}

void recorded_set_files(struct report *r, const struct trace *t, enum files_profile p)
{
	followed_files followed = followed_of(t);
	bool is_only = true;

	for (uint32_t i = 1; i <= trace_nfiles(t); i++) {
		const struct trace_file *f = trace_file(t, i);

		is_only &= !f || (f->flags & PMT_FILE_FOLDER) || followed_has(&followed, i);
	}
	vec_release(&followed);
	report_set_files(r, files_profile_name(p), is_only);
}

char *recorded_files(const struct trace *t, enum files_profile p)
{
	const char *folder = trace_meta(t, "files"), *dir = trace_meta(t, "scratch_dir"), *other;
	bool has_others = false;

	if (!folder)
		return NULL;
	/* each program of the recording names all followed files */
	for (size_t i = 1; (other = trace_meta_older(t, "files", i)); i++)
		has_others |= strcmp(other, folder) != 0;
	return xasprintf("Files below %s%s are judged by what %s promises (docs/files.md)",
			 dir && strcmp(folder, dir) == 0 ? SCRATCH_DIR : folder,
			 has_others ? " and others" : "",
			 p == FILES_WEAKEST ? "the weakest file system" : files_profile_name(p));
}

char *recorded_candidates(size_t n)
{
	return n == 0 ? NULL
		      : xasprintf(
				"%zu pair%s of a store and another thread's load did not meet, but "
				"in another interleaving the load can come before the store is durable",
				n, n == 1 ? "" : "s");
}

char *recorded_old_bytes(const struct trace *t, uint64_t nbytes)
{
	if (!trace_meta(t, "old_bytes"))
		return NULL;
	if (nbytes == 0)
		return xstrdup(
			"--old-bytes filled nothing: no allocator announced that it hands out memory again, and no device was mapped");
	return xasprintf("--old-bytes: %" PRIu64 " bytes that the program was handed were not zero",
			 nbytes);
}

/* Adds the option for each value of the key, except for the scratch folder, which the command
 * contains as {dir}. Each program of the recording has all values. */
static void add_files_options(struct report *r, const struct trace *t, const char *key,
			      const char *option)
{
	const char *dir = trace_meta(t, "scratch_dir"), *value;
	const size_t first = report_nfiles_options(r);
	bool is_there;

	for (size_t i = 0; (value = trace_meta_older(t, key, i)); i++) {
		is_there = dir && strcmp(value, dir) == 0;
		for (size_t k = first + 1; k < report_nfiles_options(r); k += 2)
			is_there |= strcmp(report_files_option(r, k), value) == 0;
		if (is_there)
			continue;
		report_add_files_option(r, option);
		report_add_files_option(r, value);
	}
}

void recorded_add_command(struct report *r, const struct trace *t)
{
	const char *pool = trace_meta(t, "scratch_pool"), *dir = trace_meta(t, "scratch_dir"),
		   *argument;
	char key[32], *shown, *pooled;

	for (unsigned i = 0;
	     snprintf(key, sizeof key, "argv.%u", i), (argument = trace_meta(t, key)); i++) {
		pooled = pool && *pool ? word_replaced(argument, pool, SCRATCH_POOL)
				       : xstrdup(argument);
		shown = dir && *dir ? word_replaced(pooled, dir, SCRATCH_DIR) : xstrdup(pooled);
		report_add_argument(r, shown);
		free(pooled);
		free(shown);
	}
	for (unsigned i = 0;
	     snprintf(key, sizeof key, "recipe.%u", i), (argument = trace_meta(t, key)); i++)
		report_add_recipe(r, argument);
	add_files_options(r, t, "files", "--files");
	add_files_options(r, t, "files_except", "--files-except");
	if (trace_meta(t, "cwd"))
		report_add_folder(r, trace_meta(t, "cwd"));
}
