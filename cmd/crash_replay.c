/* Replays one crash state: rebuilds it, writes its files where asked, lists choices, and runs
 * recovery, under gdb if asked. */
#include "cmd/crash_replay.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "crash/files/files_explore.h"
#include "crash/files/roots.h"
#include "crash/search/explain.h"
#include "crash/search/references.h"
#include "report/escape.h"
#include "source/locate.h"
#include "util/files.h"
#include "util/proc.h"
#include "util/sysroot.h"
#include "util/tempdir.h"
#include "util/tunables.h"
#include "util/values.h"

struct replay {
	struct crash_setup *setup;
	const struct crash_replay_options *options;
	struct plan *plan;
	struct walk walk;
	struct state_set set;
	uint64_t *state;
	struct allowed allowed;  /* what the dump may print */
	struct dump_texts texts; /* the texts of these dumps */
	struct runner *runner;
	struct locator *locator;
	struct symbols *symbols;
};

static void go_to_point(struct replay *r)
{
	uint64_t point = state_point(r->options->state);
	struct error err;

	walk_init(&r->walk, r->plan, r->setup->options.stops);
	while (r->walk.point != point)
		if (!walk_next(&r->walk))
			die("--replay %s: this trace has only %" PRIu64 " failure points",
			    r->options->state, r->walk.point);
	r->state = state_collect(&r->set, r->walk.model, r->options->state, &err) == 0
			   ? state_parse(&r->set, r->options->state, &err)
			   : NULL;
	if (!r->state)
		die("%s", err.msg);
}

/* ---- choices ---- */

static void print_site(struct replay *r, const char *before, const struct trace_site *site)
{
	const struct frame *f = locate(r->locator, site);

	printf("%s", before);
	if (f && f->symbol->file)
		escape_printf(stdout, "%s:%" PRIu32 " (%s)", f->symbol->file, f->symbol->line,
			      f->symbol->function ? f->symbol->function : "??");
	else if (f && f->symbol->object)
		escape_printf(stdout, "%s+0x%" PRIx64, f->symbol->object, f->symbol->offset);
	else
		printf("??");
}

struct list {
	struct replay *replay;
	bool has_some;
};

static void print_lost(const struct model_lost *s, void *arg)
{
	struct list *l = arg;

	print_site(l->replay, l->has_some ? ", " : "  loses ", s->site);
	l->has_some = true;
}

/* Prints the possible values of some bytes of a line, each with the stores that a crash must lose
 * to show it. */
static void print_values(struct replay *r, const struct state_line *l, const uint64_t *left,
			 uint32_t at, uint32_t len_bytes, uint32_t taken)
{
	for (uint32_t c = l->ncontents; c-- > 0;) {
		const uint8_t *content = state_content(&r->set, l, c);
		struct list list = { r, false };
		bool is_seen = false;

		if (!bit_get(left + l->set, c))
			continue;
		for (uint32_t newer = c + 1; newer < l->ncontents && !is_seen; newer++)
			is_seen = bit_get(left + l->set, newer) &&
				  memcmp(content + at, state_content(&r->set, l, newer) + at,
					 len_bytes) == 0;
		if (is_seen)
			continue;
		printf("    %s",
		       memcmp(content + at, state_content(&r->set, l, taken) + at, len_bytes) == 0
			       ? "* "
			       : "  ");
		for (uint32_t i = 0; i < len_bytes; i++)
			printf("%02x", content[at + i]);
		model_each_lost(r->walk.model, l->addr, content, print_lost, &list);
		printf("%s\n", list.has_some ? "" : "  loses nothing");
	}
}

struct values {
	const uint8_t *taken;
	uint32_t len_bytes;
};

static void print_value(const uint8_t *value, void *arg)
{
	const struct values *v = arg;

	printf("    %s", memcmp(value, v->taken, v->len_bytes) == 0 ? "* " : "  ");
	for (uint32_t i = 0; i < v->len_bytes; i++)
		printf("%02x", value[i]);
	printf("\n");
}

/* Prints the values if the line has very many contents, which are not listed. */
static void print_asked(struct replay *r, const struct state_line *l, uint32_t at,
			uint32_t len_bytes, uint32_t taken)
{
	struct values v = { state_content(&r->set, l, taken) + at, len_bytes };

	model_each_value(r->walk.model, l->addr + at, len_bytes, print_value, &v);
}

static void print_reader(struct replay *r, const struct run_decision *d)
{
	const struct trace_object *objects;
	const struct runner_command *c =
		r->setup->recovery.recover ? r->setup->recovery.recover : r->setup->recovery.dump;
	size_t n = runner_objects(r->runner, c, &objects), nfound;
	const struct symbol *list;

	for (size_t i = 0; i < n && d->nframes > 0; i++)
		if (d->stack[0] - objects[i].va < objects[i].len_bytes) {
			nfound = symbols_find(r->symbols, &objects[i], d->stack[0], false, &list);
			if (nfound > 0 && list[0].file)
				escape_printf(stdout, "read at %s:%" PRIu32 " (%s)", list[0].file,
					      list[0].line,
					      list[0].function ? list[0].function : "??");
			else
				escape_printf(stdout, "read at %s+0x%" PRIx64, objects[i].path,
					      d->stack[0] - objects[i].va + objects[i].offset);
			return;
		}
	printf("read at ??");
}

static void print_place(const struct replay *r, uint64_t addr, uint32_t at, uint32_t len_bytes)
{
	const struct trace_file *f = trace_file(r->plan->trace, PMT_FILE(addr));

	escape_printf(stdout, "%s+0x%" PRIx64 ", %" PRIu32 " bytes", f ? f->path : "?",
		      (uint64_t)PMT_OFFSET(addr) + at, len_bytes);
}

/* Prints what the state itself decides, then every read of this run that had more than one possible
 * value. */
static void show_choices(struct replay *r)
{
	uint64_t *all = states_all(&r->set), *left = states_all(&r->set);
	const struct run_decision *d;
	struct verdict v;
	struct error err;
	size_t n;

	for (size_t i = 0; i < r->set.lines.n; i++) {
		const struct state_line *l = &r->set.lines.at[i];
		uint32_t c = states_newest_left(l, r->state);

		if (c == l->ncontents - 1)
			continue;
		states_only(l, left, c);
		printf("chosen for this state: ");
		print_place(r, l->addr, 0, r->set.line_bytes);
		printf("\n");
		print_values(r, l, all, 0, r->set.line_bytes, c);
	}
	runner_begin(r->runner, left, true);
	if (verdict_run(&v, r->runner, &r->setup->recovery, NULL, &err) < 0)
		die("%s", err.msg);
	if (v.why_unsound) {
		escape_printf(stdout, "reads cannot be listed: %s", v.why_unsound);
		putchar('\n');
	}
	n = runner_decisions(r->runner, &d);
	for (size_t i = 0; i < n; i++) {
		const struct state_line *l = &r->set.lines.at[d[i].line];
		uint32_t len_bytes = d[i].mask ? 64 - (uint32_t)__builtin_clzll(d[i].mask) : 0;

		print_reader(r, &d[i]);
		printf(": ");
		print_place(r, l->addr, d[i].at, len_bytes);
		printf("\n");
		if (l->asked == ~(uint64_t)0)
			print_values(r, l, all, d[i].at, len_bytes, d[i].chosen);
		else
			print_asked(r, l, d[i].at, len_bytes, d[i].chosen);
	}
	free(all);
	free(left);
}

/* ---- running ---- */

/* Prints what the dump may print: without and with the operation in flight. */
static void print_allowed(const struct allowed *allowed, const struct dump_texts *texts)
{
	const size_t n = allowed->hashes.n;
	const struct {
		const char *name;
		size_t at;
	} ends[] = { { n > 1 ? "before" : "allowed", 0 }, { "after", n - 1 } };

	for (size_t i = 0; i < (n > 1 ? 2 : n); i++) {
		char *text = dump_texts_find(texts, allowed->hashes.at[ends[i].at]);
		const size_t len = text ? strlen(text) : 0;

		if (text && len == 0)
			printf("%s: (an empty dump)\n", ends[i].name);
		else if (text)
			printf("%s:\n%s%s", ends[i].name, text, text[len - 1] != '\n' ? "\n" : "");
		free(text);
	}
}

/* Prints how recovery ended and what it printed. Returns the exit status. */
static int print_verdict(const struct verdict *v, const struct allowed *allowed,
			 const struct dump_texts *texts)
{
	char *text = verdict_text(v);

	fwrite(v->result.output, 1, v->result.output_len, stdout);
	fflush(stdout);
	fwrite(v->result.errors, 1, v->result.errors_len, stderr);
	escape_printf(stdout, "%s: %s", v->command ? v->command->shown : "recovery", text);
	putchar('\n');
	free(text);
	if (v->kind == VERDICT_DUMP)
		print_allowed(allowed, texts);
	return v->kind == VERDICT_OK ? CMD_CLEAN : CMD_FOUND;
}

static int run_once(struct replay *r)
{
	struct verdict v;
	struct error err;

	runner_begin(r->runner, r->state, false);
	if (verdict_run(&v, r->runner, &r->setup->recovery, &r->allowed, &err) < 0)
		die("%s", err.msg);
	return print_verdict(&v, &r->allowed, &r->texts);
}

static const struct runner_command *gdb_command(const struct crash_setup *s)
{
	return s->recovery.recover ? s->recovery.recover : s->recovery.dump;
}

/* Runs gdb. It needs files and not the runtime: `words` are those of the recovery command, with
 * paths in place of `what`, its placeholder. They are freed. */
static int run_gdb(const struct crash_setup *s, const char *what, char **words)
{
	const struct runner_command *c = gdb_command(s);
	char *gdb = proc_find("gdb");
	char *libraries = sysroot() ? sysroot_libraries(sysroot()) : NULL, *set = NULL;
	VEC(char *) argv = { 0 };
	bool has_place = false;
	struct error err;
	int status;

	for (size_t i = 0; words[i]; i++)
		has_place |= strcmp(words[i], c->argv[i]) != 0;
	if (!has_place)
		die("--gdb needs %s in the recovery command: it is run on a copy", what);
	if (!gdb)
		die("gdb is not installed; install Debian's package gdb");
	*vec_add(&argv) = gdb;
	if (libraries) {
		libraries[strcspn(libraries, "=")] = ' ';
		*vec_add(&argv) = (char *)"-ex";
		*vec_add(&argv) = set = xasprintf("set environment %s", libraries);
	}
	*vec_add(&argv) = (char *)"--args";
	for (char **a = words; *a; a++)
		*vec_add(&argv) = *a;
	*vec_add(&argv) = NULL;
	if (!proc_can_trace())
		die("gdb may not trace programs here: as root, set /proc/sys/kernel/yama/ptrace_scope to 1; in a container, allow ptrace (--cap-add SYS_PTRACE); "
		    "without --gdb, the replay shows where recovery died");
	setenv("PMEM_IS_PMEM_FORCE", "1", 0);
	putenv(tunables_env()); /* never freed */
	fflush(stdout);
	if (proc_run(argv.at, environ, &status, &err) < 0)
		die("%s", err.msg);
	vec_release(&argv);
	words_free(words);
	free(gdb);
	free(libraries);
	free(set);
	return CMD_CLEAN;
}

/* Runs gdb on the copy of the first pool file in the folder. Returns its status. */
static int run_gdb_on_pool(const struct replay *r, const char *folder)
{
	const struct trace_file *f = trace_file(r->plan->trace, plan_pool_file(r->plan));
	const char *name = strrchr(f->path, '/');
	char *pool = xasprintf("%s/%s", folder, name ? name + 1 : f->path);
	const int status =
		run_gdb(r->setup, "{}", words_replaced(gdb_command(r->setup)->argv, "{}", pool));

	free(pool);
	return status;
}

static void keep_files(struct replay *r, const char *folder)
{
	struct error err;

	folder_make_for(folder);
	if (mkdir(folder, 0777) < 0 && errno != EEXIST)
		die("cannot make the folder %s: %s", folder, strerror(errno));
	if (runner_export(r->runner, r->state, folder, &err) < 0)
		die("%s", err.msg);
}

/* Takes the dumps that the exploration allowed. (After a crash during recovery, the operations are
 * not known any more.) */
static void take_references(struct replay *r)
{
	struct references refs = { .texts = &r->texts };
	struct error err;

	if (!r->setup->recovery.dump || r->plan->operations.n == 0)
		return;
	if (references_take(&refs, r->plan, r->runner, &r->setup->recovery, &r->walk.seq, 1, &err) <
	    0)
		die("%s", err.msg);
	references_allow(&refs, r->plan, r->walk.seq, &r->allowed);
	references_release(&refs);
}

/* ---- files that are followed ---- */

struct told {
	const char *keep;
	bool is_told; /* by gdb */
	int status;
	struct replay *replay;
};

static void tell_files(const struct verdict *v, const struct allowed *allowed,
		       const struct dump_texts *texts, void *arg)
{
	struct told *t = arg;

	if (!t->is_told)
		t->status = print_verdict(v, allowed, texts);
}

static void print_lost_change(enum files_item_kind kind, uint64_t place,
			      const struct trace_site *site, void *arg)
{
	static const char *const what[] = {
		[FILES_NAMES] = "a name of ", [FILES_SIZE] = "the size of "
	};
	struct told *t = arg;
	const struct trace_file *f = trace_file(t->replay->plan->trace, PMT_FILE(place));

	printf("lost in this state: ");
	if (PMT_FILE(place) == 0)
		printf("the removal of a name");
	else
		escape_printf(stdout, "%s%s", kind <= FILES_SIZE ? what[kind] : "",
			      f ? f->path : "?");
	if (kind > FILES_SIZE)
		printf("+0x%" PRIx64, (uint64_t)PMT_OFFSET(place));
	print_site(t->replay, ", ", site);
	printf("\n");
}

/* Prints where the files of the state are, and which folder is which. */
static void tell_kept(const struct file_roots *roots, const char *folder)
{
	printf("the files of this state are in %s\n", folder);
	for (size_t i = 0; roots->list.n > 1 && i < roots->list.n; i++) {
		escape_printf(stdout, "%s is %s", roots->list.at[i].place,
			      roots->list.at[i].recorded);
		putchar('\n');
	}
}

static int replay_files(struct crash_setup *s, const struct crash_replay_options *o,
			const char *trace)
{
	const char *own = o->gdb && !o->keep ? OUT_FOLDER "/replay" : NULL;
	struct replay r = { .setup = s, .options = o };
	struct told told = { own ? own : o->keep, o->gdb, CMD_FAILED, &r };
	const struct files_replay f = { .state = o->state,
					.keep = told.keep,
					.lost = o->show_choices ? print_lost_change : NULL,
					.tell = tell_files,
					.arg = &told };
	struct file_roots roots;
	char **words = NULL;
	struct error err;
	struct plan *p = r.plan = crash_setup_plan(s, trace, &err);

	if (!p || file_roots_find(&roots, p, &err) < 0)
		die("%s", err.msg);
	r.locator = locator_new(p->trace, &s->libraries);
	if (own)
		tree_remove(own);
	if (told.keep)
		folder_make_for(told.keep);
	if (files_replay(p, &s->options, &f, &err) < 0)
		die("%s", err.msg);
	if (told.keep)
		tell_kept(&roots, told.keep);
	if (o->gdb)
		words = file_roots_words(&roots, gdb_command(s)->argv, told.keep);
	file_roots_release(&roots);
	locator_free(r.locator);
	plan_free(p);
	return o->gdb ? run_gdb(s, SCRATCH_DIR, words) : told.status;
}

int crash_replay(struct crash_setup *s, const struct crash_replay_options *o, const char *trace)
{
	const char *keep = o->gdb && !o->keep ? OUT_FOLDER "/replay" : o->keep;
	struct replay r = { .setup = s, .options = o };
	struct error err;
	int status;

	if (s->has_files)
		return replay_files(s, o, trace);
	r.plan = crash_setup_plan(s, trace, &err);
	if (!r.plan)
		die("%s", err.msg);
	go_to_point(&r);
	r.runner = runner_new(&s->options.runner, r.plan->mappings.at, r.plan->mappings.n, &err);
	if (!r.runner)
		die("%s", err.msg);
	r.locator = locator_new(r.plan->trace, &s->libraries);
	r.symbols = symbols_new();
	take_references(&r);
	runner_load(r.runner, &r.walk.image, &r.set);
	recovery_set_moment(&s->recovery, r.runner, r.plan, r.walk.seq);
	if (keep) {
		keep_files(&r, keep);
		printf("the files of this state are in %s\n", keep);
	}
	if (o->show_choices)
		show_choices(&r);
	status = o->gdb ? run_gdb_on_pool(&r, keep) : run_once(&r);
	runner_free(r.runner);
	symbols_free(r.symbols);
	locator_free(r.locator);
	states_release(&r.set);
	free(r.state);
	allowed_release(&r.allowed);
	dump_texts_release(&r.texts);
	walk_release(&r.walk);
	plan_free(r.plan);
	return status;
}
