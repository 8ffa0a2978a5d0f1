/* Copies, builds, runs and judges one of the two trees that are compared. The program runs in the root of the copy, or where its command says; paths below the root are meant below the copy. */
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

int fix_side_copy(const struct fixing *f, struct fix_side *s, struct error *err)
{
	if (fix_shell("cp -a \"$1/.\" \"$2\"", f->real_root, s->tree, NULL) != 0)
		return error_set(err, "cannot copy %s to %s; set TMPDIR to where there is room", f->real_root, s->scratch);
	return 0;
}

int fix_side_change(const struct fixing *f, const struct fix_side *s, struct error *err)
{
	int result = 0;

	for (size_t i = 0; result == 0 && i < repair_nfiles(f->repair); i++) {
		struct repair_file file = repair_file(f->repair, i);
		char *path = xasprintf("%s/%s", s->tree, fixing_below(f, file.path));
		FILE *out = fopen(path, "we");

		if (!out || fputs(file.after, out) < 0 || fclose(out))
			result = error_set(err, "cannot write %s: %s", path, strerror(errno));
		free(path);
	}
	return result;
}

int fix_side_build(const struct fixing *f, const struct fix_side *s, struct error *err)
{
	char here[PATH_MAX];
	char *folder;
	int status;

	if (!getcwd(here, sizeof here))
		return error_set(err, "cannot find the current folder: %s", strerror(errno));
	folder = strcmp(here, f->real_root) == 0 || strncmp(here, f->real_root, strlen(f->real_root)) != 0 ?
			 xstrdup(s->tree) : xasprintf("%s%s", s->tree, here + strlen(f->real_root));
	status = fix_shell("cd \"$1\" && eval \"$2\" >\"$3\" 2>&1", folder, f->verify, s->log, NULL);
	free(folder);
	if (status == 0)
		return 0;
	fix_shell("tail -n 20 \"$1\" >&2", s->log, NULL);
	return error_set(err, "the %s tree does not build with '%s'; %s%s", s->name, f->verify,
			 f->keeps_scratch ? "all that was said is in " : "above are the last lines of what was said, --keep-scratch keeps all",
			 f->keeps_scratch ? s->log : "");
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

	moved = replaced(line, f->real_root, s->tree);
	filled = replaced(moved, "{}", fresh);
	free(line);
	free(moved);
	return filled;
}

/* ---- running ---- */

/* What was done to persistent memory, in which order: the same for two recordings of one execution, wherever its files were. The bytes do
 * not count, as libraries give pools random numbers. */
static void sign(uint64_t *signature, const struct trace_event *ev)
{
	uint64_t more = ev->kind == PMT_FILE ? ev->arg[2] : ev->kind == PMT_CONTENT ? ev->data_len : 0;
	const uint64_t words[] = { ev->kind, ev->thread, ev->addr, ev->size_bytes, more };

	if (ev->kind == PMT_META)
		return;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		*signature = (*signature ^ words[i]) * 0x100000001b3u;
}

/* The recorder tells the number of instructions at the end of each process. */
static int count(struct fix_side *s, struct error *err)
{
	static const char key[] = "instructions=";
	struct trace_event ev;
	struct trace *t;

	if (trace_open(&t, s->trace, err) < 0)
		return -1;
	while (trace_next(t, &ev)) {
		sign(&s->signature, &ev);
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
	return 0;
}

bool fix_side_is_execution(const struct fix_side *s, const char *trace)
{
	uint64_t signature = 0;
	struct trace_event ev;
	struct error err;
	struct trace *t;

	if (!trace || trace_open(&t, trace, &err) < 0)
		return false;
	while (trace_next(t, &ev))
		sign(&signature, &ev);
	trace_close(t);
	return signature == s->signature;
}

static int check(struct fix_side *s, const char *pmend, struct error *err)
{
	char *path = xasprintf("%s/%s.json", s->scratch, s->name);
	int result = 0;

	if (fix_shell("\"$1\" check -q --format json -o \"$2\" \"$3\"", pmend, path, s->trace, NULL) > CMD_FOUND)
		result = error_set(err, "what was recorded in the %s tree cannot be judged", s->name);
	else if (!(s->checked = report_read(path, err)))
		result = -1;
	free(path);
	return result;
}

int fix_side_crash(const struct fixing *f, struct fix_side *s, const char *pmend, struct error *err)
{
	char *path = xasprintf("%s/%s.crash.json", s->scratch, s->name);
	char *line = quoted(f->report, report_ncrash_options(f->report), report_crash_option), *options = replaced(line, f->real_root, s->tree);
	int result = 0;

	if (fix_shell("cd \"$1\" && eval \"set -- \\\"\\$2\\\" \\\"\\$3\\\" \\\"\\$4\\\" $5\" && pmend=$1 path=$2 trace=$3 && shift 3 && "
		      "exec \"$pmend\" crash -q --format json -o \"$path\" \"$@\" \"$trace\"",
		      s->tree, pmend, path, s->trace, options, NULL) > CMD_FOUND)
		result = error_set(err, "crashes of what was recorded in the %s tree cannot be explored", s->name);
	else if (!(s->crashed = report_read(path, err)))
		result = -1;
	free(path);
	free(line);
	free(options);
	return result;
}

int fix_side_run(const struct fixing *f, struct fix_side *s, const char *pmend, struct error *err)
{
	char *fresh = xasprintf("%s/run", s->scratch), *line = command_for(f, s, fresh);
	int result = -1;

	if (!*line) {
		error_set(err, "%s does not say which program was recorded; give it with --run", f->report_path);
		goto out;
	}
	fix_shell("rm -rf \"$1\" && mkdir \"$1\"", fresh, NULL);
	s->status = fix_shell("cd \"$1\" && eval \"set -- \\\"\\$2\\\" \\\"\\$3\\\" \\\"\\$4\\\" $5\" && pmend=$1 trace=$2 output=$3 && shift 3 && "
			      "exec \"$pmend\" record -q --instructions -o \"$trace\" -- \"$@\" >\"$output\"",
			      s->tree, pmend, s->trace, s->output, line, NULL);
	if (access(s->trace, R_OK) != 0)
		error_set(err, "'%s' could not be recorded in a copy of the tree; say what to run with --run", line);
	else if (check(s, pmend, err) == 0 && count(s, err) == 0)
		result = 0;
out:
	free(line);
	free(fresh);
	return result;
}
