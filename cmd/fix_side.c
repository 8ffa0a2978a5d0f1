/* See fix_side.h. The program runs in the root of the copy, or where its command says; paths below the root are meant below the copy. */
#include "cmd/fix_side.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/trace.h"
#include "util/alloc.h"
#include "util/proc.h"
#include "util/vec.h"

int fix_shell(const char *script, ...)
{
	VEC(char *) argv = { 0 };
	struct error err;
	va_list arguments;
	char *word;
	int status;

	*vec_add(&argv) = "/bin/sh";
	*vec_add(&argv) = "-c";
	*vec_add(&argv) = (char *)script;
	*vec_add(&argv) = "sh";
	va_start(arguments, script);
	while ((word = va_arg(arguments, char *)))
		*vec_add(&argv) = word;
	va_end(arguments);
	*vec_add(&argv) = NULL;
	if (proc_run(argv.at, environ, &status, &err) < 0)
		die("%s", err.msg);
	vec_release(&argv);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void fix_side_init(struct fix_side *s, const char *name, const char *scratch)
{
	*s = (struct fix_side){ .name = name, .scratch = xstrdup(scratch) };
	s->tree = xasprintf("%s/%s", scratch, name);
	s->trace = xasprintf("%s/%s.pmt", scratch, name);
	s->output = xasprintf("%s/%s.out", scratch, name);
	s->log = xasprintf("%s/%s.log", scratch, name);
}

void fix_side_release(struct fix_side *s)
{
	report_free(s->checked);
	report_free(s->crashed);
	free(s->tree);
	free(s->trace);
	free(s->output);
	free(s->log);
	free(s->scratch);
}

void fix_side_copy(const struct fixing *f, struct fix_side *s)
{
	if (fix_shell("cp -a \"$1/.\" \"$2\"", f->real_root, s->tree, NULL) != 0)
		die("cannot copy %s to %s; set TMPDIR to where there is room", f->real_root, s->scratch);
}

void fix_side_change(const struct fixing *f, const struct fix_side *s)
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

void fix_side_build(const struct fixing *f, const struct fix_side *s)
{
	char here[PATH_MAX];
	char *folder;

	if (!getcwd(here, sizeof here))
		die("cannot find the current folder: %s", strerror(errno));
	folder = strcmp(here, f->real_root) == 0 || strncmp(here, f->real_root, strlen(f->real_root)) != 0 ?
			 xstrdup(s->tree) : xasprintf("%s%s", s->tree, here + strlen(f->real_root));
	if (fix_shell("cd \"$1\" && eval \"$2\" >\"$3\" 2>&1", folder, f->verify, s->log, NULL) != 0) {
		fix_shell("tail -n 20 \"$1\" >&2", s->log, NULL);
		die("the %s tree does not build with '%s'", s->name, f->verify);
	}
	free(folder);
}

/* ---- commands ---- */

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

static void add_quoted(FILE *f, const char *word)
{
	fputs(" '", f);
	for (; *word; word++)
		fputs(*word == '\'' ? "'\\''" : (char[]){ *word, 0 }, f);
	putc('\'', f);
}

/* Words of the report as the shell reads them; malloc'd. */
static char *quoted(const struct report *r, size_t n, const char *(*word)(const struct report *r, size_t i))
{
	char *out = NULL;
	size_t room = 0;
	FILE *f = open_memstream(&out, &room);

	for (size_t i = 0; i < n; i++)
		add_quoted(f, word(r, i));
	fclose(f);
	return out;
}

static char *command_for(const struct fixing *f, const struct fix_side *s, const char *fresh)
{
	char *line = f->run ? xstrdup(f->run) : quoted(f->report, report_ncommand(f->report), report_argument), *moved, *filled;

	if (!*line)
		die("%s does not say which program was recorded; give it with --run", f->report_path);
	moved = replaced(line, f->real_root, s->tree);
	filled = replaced(moved, "{}", fresh);
	free(line);
	free(moved);
	return filled;
}

/* ---- running ---- */

/* The recorder tells the number of instructions at the end of each process. */
static void count(struct fix_side *s)
{
	static const char key[] = "instructions=";
	struct trace_event ev;
	struct trace *t;
	struct error err;

	if (trace_open(&t, s->trace, &err) < 0)
		die("%s", err.msg);
	while (trace_next(t, &ev)) {
		s->nflushes += ev.kind == PMT_CLFLUSH || ev.kind == PMT_CLFLUSHOPT || ev.kind == PMT_CLWB;
		s->nfences += ev.kind == PMT_SFENCE || ev.kind == PMT_MFENCE;
		s->nlogged_bytes += ev.kind == PMT_TX_ADD ? ev.arg[0] : 0;
		if (ev.kind == PMT_META && ev.data_len > strlen(key) && memcmp(ev.data, key, strlen(key)) == 0) {
			char *number = strndup((const char *)ev.data + strlen(key), ev.data_len - strlen(key));

			s->ninstructions += strtoull(number, NULL, 10);
			free(number);
		}
	}
	trace_close(t);
}

static struct report *read_report(const char *path)
{
	struct error err;
	struct report *r = report_read(path, &err);

	if (!r)
		die("%s", err.msg);
	return r;
}

static void check(struct fix_side *s, const char *pmend)
{
	char *path = xasprintf("%s/%s.json", s->scratch, s->name);

	if (fix_shell("\"$1\" check -q --format json -o \"$2\" \"$3\"", pmend, path, s->trace, NULL) > CMD_FOUND)
		die("what was recorded in the %s tree cannot be judged", s->name);
	s->checked = read_report(path);
	free(path);
}

/* As the report says that it was done. */
static void crash(const struct fixing *f, struct fix_side *s, const char *pmend)
{
	char *path = xasprintf("%s/%s.crash.json", s->scratch, s->name);
	char *line = quoted(f->report, report_ncrash_options(f->report), report_crash_option), *options = replaced(line, f->real_root, s->tree);

	if (fix_shell("cd \"$1\" && eval \"set -- \\\"\\$2\\\" \\\"\\$3\\\" \\\"\\$4\\\" $5\" && pmend=$1 path=$2 trace=$3 && shift 3 && "
		      "exec \"$pmend\" crash -q --format json -o \"$path\" \"$@\" \"$trace\"",
		      s->tree, pmend, path, s->trace, options, NULL) > CMD_FOUND)
		die("crashes of what was recorded in the %s tree cannot be explored", s->name);
	s->crashed = read_report(path);
	free(path);
	free(line);
	free(options);
}

void fix_side_run(const struct fixing *f, struct fix_side *s, const char *pmend)
{
	char *fresh = xasprintf("%s/run", s->scratch), *line = command_for(f, s, fresh);

	fix_shell("rm -rf \"$1\" && mkdir \"$1\"", fresh, NULL);
	s->status = fix_shell("cd \"$1\" && eval \"set -- \\\"\\$2\\\" \\\"\\$3\\\" \\\"\\$4\\\" $5\" && pmend=$1 trace=$2 output=$3 && shift 3 && "
			      "exec \"$pmend\" record -q --instructions -o \"$trace\" -- \"$@\" >\"$output\"",
			      s->tree, pmend, s->trace, s->output, line, NULL);
	if (access(s->trace, R_OK) != 0)
		die("'%s' could not be recorded in a copy of the tree; say what to run with --run", line);
	check(s, pmend);
	if (report_ncrash_options(f->report) > 0)
		crash(f, s, pmend);
	count(s);
	free(line);
	free(fresh);
}
