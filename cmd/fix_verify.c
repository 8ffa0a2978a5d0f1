/* The proof of a patch: the original and the mended tree are copied to a scratch folder, built with the user's command, and the
 * program runs in both under the recorder. What was mended must have been there before and be gone after, nothing new may have come,
 * output and exit status must be the same. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/fixing.h"
#include "cmd/scratch.h"
#include "trace/trace.h"
#include "util/alloc.h"
#include "util/proc.h"

/* One of the two trees. */
struct side {
	const char *name;
	char *tree, *trace, *report_path, *output, *log;
	struct report *report;
	int status; /* of the program */
	uint64_t nflushes, nfences;
};

/* Runs a script by the shell; $1… are the arguments. Returns the exit status, 128 or more for a signal. */
static int shell(const char *script, const char *a, const char *b, const char *c, const char *d)
{
	char *argv[] = { "/bin/sh", "-c", (char *)script, "sh", (char *)a, (char *)b, (char *)c, (char *)d, NULL };
	struct error err;
	int status;

	if (proc_run(argv, environ, &status, &err) < 0)
		die("%s", err.msg);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void side_init(struct side *s, const char *name, const char *scratch)
{
	*s = (struct side){ .name = name };
	s->tree = xasprintf("%s/%s", scratch, name);
	s->trace = xasprintf("%s/%s.pmt", scratch, name);
	s->report_path = xasprintf("%s/%s.json", scratch, name);
	s->output = xasprintf("%s/%s.out", scratch, name);
	s->log = xasprintf("%s/%s.log", scratch, name);
}

static void side_release(struct side *s)
{
	if (s->report)
		report_free(s->report);
	free(s->tree);
	free(s->trace);
	free(s->report_path);
	free(s->output);
	free(s->log);
}

static void write_changes(const struct fixing *f, const struct side *s)
{
	for (size_t i = 0; i < repair_nfiles(f->repair); i++) {
		struct repair_file file = repair_file(f->repair, i);
		char *path = xasprintf("%s/%s", s->tree, fixing_below(f, file.path));
		FILE *out = fopen(path, "we");

		if (!out || fputs(file.after, out) < 0 || fclose(out))
			die("cannot write %s: %s", path, strerror(errno));
		free(path);
	}
}

/* The text with every `from` replaced; malloc'd. */
static char *replaced(const char *text, const char *from, const char *to)
{
	char *out = NULL;
	size_t room = 0, len = strlen(from);
	FILE *f = open_memstream(&out, &room);

	while (*text) {
		if (strncmp(text, from, len) == 0) {
			fputs(to, f);
			text += len;
		} else {
			fputc(*text++, f);
		}
	}
	fclose(f);
	return out;
}

/* The recorded command as the shell reads it; malloc'd. */
static char *recorded_command(const struct report *r)
{
	char *out = NULL;
	size_t room = 0;
	FILE *f = open_memstream(&out, &room);

	for (size_t i = 0; i < report_ncommand(r); i++) {
		fputs(i ? " '" : "'", f);
		for (const char *p = report_argument(r, i); *p; p++)
			fputs(*p == '\'' ? "'\\''" : (char[]){ *p, 0 }, f);
		putc('\'', f);
	}
	fclose(f);
	return out;
}

/* What runs in this tree: paths below the root are meant below the copy. */
static char *command_for(const struct fixing *f, const struct side *s, const char *fresh)
{
	char *line = f->run ? xstrdup(f->run) : recorded_command(f->report), *moved, *filled;

	if (!*line)
		die("%s does not say which program was recorded; give it with --run", f->report_path);
	moved = replaced(line, f->real_root, s->tree);
	filled = replaced(moved, "{}", fresh);
	free(line);
	free(moved);
	return filled;
}

static void build(const struct fixing *f, const struct side *s)
{
	char here[PATH_MAX];
	char *folder;

	if (!getcwd(here, sizeof here))
		die("cannot find the current folder: %s", strerror(errno));
	folder = strcmp(here, f->real_root) == 0 || strncmp(here, f->real_root, strlen(f->real_root)) != 0 ?
			 xstrdup(s->tree) : xasprintf("%s%s", s->tree, here + strlen(f->real_root));
	if (shell("cd \"$1\" && eval \"$2\" >\"$3\" 2>&1", folder, f->verify, s->log, "") != 0) {
		shell("tail -n 20 \"$1\" >&2", s->log, "", "", "");
		die("the %s tree does not build with '%s'", s->name, f->verify);
	}
	free(folder);
}

static void count(struct side *s)
{
	struct trace_event ev;
	struct trace *t;
	struct error err;

	if (trace_open(&t, s->trace, &err) < 0)
		die("%s", err.msg);
	while (trace_next(t, &ev)) {
		s->nflushes += ev.kind == PMT_CLFLUSH || ev.kind == PMT_CLFLUSHOPT || ev.kind == PMT_CLWB;
		s->nfences += ev.kind == PMT_SFENCE || ev.kind == PMT_MFENCE;
	}
	trace_close(t);
}

static void run(const struct fixing *f, struct side *s, const char *scratch, const char *pmend)
{
	char *fresh = xasprintf("%s/run", scratch), *line = command_for(f, s, fresh);
	struct error err;
	int status;

	shell("rm -rf \"$1\" && mkdir \"$1\"", fresh, "", "", "");
	setenv("PMEND_FIX_PMEND", pmend, 1);
	setenv("PMEND_FIX_OUTPUT", s->output, 1);
	status = shell("cd \"$1\" && eval \"set -- \\\"\\$2\\\" $3\" && trace=$1 && shift && "
		       "exec \"$PMEND_FIX_PMEND\" record -q -o \"$trace\" -- \"$@\" >\"$PMEND_FIX_OUTPUT\"",
		       s->tree, s->trace, line, "");
	s->status = status;
	if (access(s->trace, R_OK) != 0)
		die("'%s' could not be recorded in a copy of the tree; say what to run with --run", line);
	if (shell("\"$1\" check -q --format json -o \"$2\" \"$3\"", pmend, s->report_path, s->trace, "") > CMD_FOUND)
		die("what was recorded in the %s tree cannot be judged", s->name);
	s->report = report_read(s->report_path, &err);
	if (!s->report)
		die("%s", err.msg);
	count(s);
	free(line);
	free(fresh);
}

/* ---- comparing ---- */

static bool has_bug(const struct report *r, const char *id)
{
	for (size_t i = 0; i < report_nbugs(r); i++)
		if (strcmp(report_bug(r, i)->id, id) == 0)
			return true;
	return false;
}

static void tell_bug(const char *what, const struct bug *b)
{
	const struct bug_frame *at = bug_frame(b);

	fprintf(stderr, "%s:%u: %s: %s\n", at && at->file ? at->file : "?", at ? at->line : 0, b->kind, what);
}

/* Gives how many of the mended ones are proven; the others are told. */
static size_t count_gone(const struct fixing *f, const struct side *before, const struct side *after, size_t *nmended)
{
	size_t gone = 0;

	*nmended = 0;
	for (size_t i = 0; i < report_nbugs(f->report); i++) {
		const struct bug *b = report_bug(f->report, i);

		if (repair_outcome(f->repair, i).status != REPAIR_MENDED)
			continue;
		*nmended += 1;
		if (has_bug(after->report, b->id))
			tell_bug("is still there after the patch", b);
		else if (!has_bug(before->report, b->id))
			tell_bug("did not show before the patch either; say how to run the program with --run", b);
		else
			gone++;
	}
	return gone;
}

static size_t count_new(const struct side *before, const struct side *after)
{
	size_t n = 0;

	for (size_t i = 0; i < report_nbugs(after->report); i++) {
		const struct bug *b = report_bug(after->report, i);

		if (b->severity != BUG_CORRECTNESS || has_bug(before->report, b->id))
			continue;
		tell_bug("is new", b);
		n++;
	}
	return n;
}

static int compare(const struct fixing *f, const struct side *before, const struct side *after)
{
	size_t nmended, gone = count_gone(f, before, after, &nmended), fresh = count_new(before, after);
	bool same_output = shell("cmp -s \"$1\" \"$2\"", before->output, after->output, "", "") == 0;

	warn("%zu of %zu mended bugs are gone, %zu new; output %s, exit status %s", gone, nmended, fresh,
	     same_output ? "unchanged" : "changed", before->status == after->status ? "unchanged" : "changed");
	warn("flushes %" PRIu64 " before, %" PRIu64 " after; fences %" PRIu64 " before, %" PRIu64 " after; performance findings %zu before, %zu after",
	     before->nflushes, after->nflushes, before->nfences, after->nfences, report_count(before->report, BUG_PERFORMANCE),
	     report_count(after->report, BUG_PERFORMANCE));
	return gone == nmended && fresh == 0 && same_output && before->status == after->status ? CMD_CLEAN : CMD_FAILED;
}

int fixing_verify(struct fixing *f)
{
	char *scratch = scratch_folder(), pmend[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", pmend, sizeof pmend - 1);
	struct side side[2];
	int status;

	if (n < 0)
		die("cannot read /proc/self/exe: %s; is /proc mounted?", strerror(errno));
	pmend[n] = 0;
	side_init(&side[0], "original", scratch);
	side_init(&side[1], "mended", scratch);
	for (int i = 0; i < 2; i++) {
		if (shell("cp -a \"$1/.\" \"$2\"", f->real_root, side[i].tree, "", "") != 0)
			die("cannot copy %s to %s; set TMPDIR to where there is room", f->real_root, scratch);
		if (i == 1)
			write_changes(f, &side[i]);
		build(f, &side[i]);
		run(f, &side[i], scratch, pmend);
	}
	status = compare(f, &side[0], &side[1]);
	side_release(&side[0]);
	side_release(&side[1]);
	shell("rm -rf \"$1\"", scratch, "", "", "");
	free(scratch);
	return status;
}
