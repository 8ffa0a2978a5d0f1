/* Compiles all files of a compilation database to LLVM's IR, with their own options, into a scratch
 * folder, and starts the pointer analysis on it. As many compilers run at a time as there are
 * processors. */
#include <errno.h>
#include <fcntl.h>
#include <llvm-c/BitReader.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "source/alias/internal.h"
#include "source/clang/database.h"
#include "source/clang/llvm.h"
#include "util/proc.h"
#include "util/tempdir.h"

extern char **environ;

enum { FEATURES_MAX = 8 };

struct job {
	struct arena arena; /* of the arguments */
	/* processor features that the source enables for gcc alone, such as -mclwb */
	char features[FEATURES_MAX][32];
	size_t nfeatures;
	struct database_command command;
	char *output, *log;
	pid_t pid;
	bool is_running;
};

static const char **arguments(struct job *j, const char *clang,
			      const struct source_commands *commands, const char *file,
			      struct error *err)
{
	/* no passes run, so calls stay as the source has them */
	static const char *const ours[] = { "-O0",
					    "-g",
					    "-c",
					    "-emit-llvm",
					    "-Xclang",
					    "-disable-llvm-passes",
					    "-w",
					    "-Qunused-arguments",
					    "-fno-color-diagnostics" };
	const char **out;
	size_t at = 0;

	if (commands_find(commands, file, &j->arena, &j->command, err) < 0)
		return NULL;
	out = arena_alloc(&j->arena, ((size_t)j->command.argc + sizeof ours / sizeof ours[0] + 6 +
				      FEATURES_MAX) *
					     sizeof *out);
	out[at++] = clang;
	for (int i = 0; i < j->command.argc; i++)
		out[at++] = j->command.argv[i];
	for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
		out[at++] = ours[i];
	for (size_t i = 0; i < j->nfeatures; i++)
		out[at++] = j->features[i];
	out[at++] = "-o";
	out[at++] = j->output;
	out[at++] = file;
	out[at] = NULL;
	return out;
}

static int start_compiler(struct job *j, const char *clang, const struct source_commands *commands,
			  const char *file, struct error *err)
{
	const char **argv = arguments(j, clang, commands, file, err);
	posix_spawn_file_actions_t actions;
	int problem;

	if (!argv)
		return -1;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, j->log,
					 O_WRONLY | O_CREAT | O_TRUNC, 0600);
	posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
	if (j->command.directory)
		posix_spawn_file_actions_addchdir_np(&actions, j->command.directory);
	problem = posix_spawn(&j->pid, clang, &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	if (problem)
		return error_set(err, "cannot start %s: %s", clang, strerror(problem));
	j->is_running = true;
	return 0;
}

static int finish_compiler(struct job *j, const char *file, struct error *err)
{
	char line[600] = "no message";
	int status = -1;
	FILE *log;

	while (waitpid(j->pid, &status, 0) < 0 && errno == EINTR)
		;
	j->is_running = false;
	if (status == 0)
		return 0;
	log = fopen(j->log, "re");
	while (log && fgets(line, sizeof line, log) && !strstr(line, "error:"))
		;
	if (log)
		fclose(log);
	line[strcspn(line, "\n")] = 0;
	return error_set(err, "%s does not compile with clang: %s", file, line);
}

/* Adds a processor feature that the message asks for. clang ignores gcc's "#pragma GCC target" and
 * reports the first intrinsic that needs the feature. True: compile again. */
static bool add_feature(struct job *j, const char *message)
{
	static const char words[] = "requires target feature '";
	const char *name = strstr(message, words),
		   *end = name ? strchr(name + sizeof words - 1, '\'') : NULL;
	int len;

	if (!end || j->nfeatures == FEATURES_MAX)
		return false;
	name += sizeof words - 1;
	len = snprintf(j->features[j->nfeatures], sizeof j->features[0], "-m%.*s",
		       (int)(end - name), name);
	if (len >= (int)sizeof j->features[0])
		return false;
	for (size_t i = 0; i < j->nfeatures; i++)
		if (strcmp(j->features[i], j->features[j->nfeatures]) == 0)
			return false; /* it was added before and did not help */
	j->nfeatures++;
	return true;
}

static int finish_with_features(struct job *j, const char *clang,
				const struct source_commands *commands, const char *file,
				struct error *err)
{
	int result = finish_compiler(j, file, err);

	while (result < 0 && add_feature(j, err->msg))
		result = start_compiler(j, clang, commands, file, err) < 0
				 ? -1
				 : finish_compiler(j, file, err);
	return result;
}

static int ask_watch(const struct alias_watch *watch, size_t ncompiled, struct error *err)
{
	return !watch || watch->may_go_on(ncompiled, watch->arg) ? 0
								 : error_set(err, "interrupted");
}

static int compile_all(struct job *jobs, const char *clang, const struct source_database *db,
		       const struct alias_watch *watch, struct error *err)
{
	long nprocessors = sysconf(_SC_NPROCESSORS_ONLN);
	size_t at_once = nprocessors > 0 ? (size_t)nprocessors : 1, done = 0;
	int result = 0;

	for (size_t i = 0; i < db->n && result == 0; i++) {
		result = ask_watch(watch, done, err) < 0
				 ? -1
				 : start_compiler(&jobs[i], clang, db->commands, db->files[i], err);
		if (result == 0 && i + 1 - done >= at_once) {
			result = finish_with_features(&jobs[done], clang, db->commands,
						      db->files[done], err);
			done++;
		}
	}
	for (; done < db->n; done++)
		if (jobs[done].is_running) {
			struct error ignored;

			if (finish_with_features(&jobs[done], clang, db->commands, db->files[done],
						 result == 0 ? err : &ignored) < 0)
				result = -1;
		}
	return result;
}

static int read_module(struct alias *a, const char *path, struct error *err)
{
	LLVMMemoryBufferRef buffer;
	LLVMModuleRef module;
	char *why = NULL;

	if (LLVMCreateMemoryBufferWithContentsOfFile(path, &buffer, &why)) {
		error_set(err, "%s", why);
		LLVMDisposeMessage(why);
		return -1;
	}
	if (LLVMParseBitcodeInContext2(a->context, buffer, &module)) {
		LLVMDisposeMemoryBuffer(buffer);
		return error_set(
			err,
			"clang's output cannot be read; is it from a version other than LLVM " LLVM_NUMBER
			"?");
	}
	LLVMDisposeMemoryBuffer(buffer);
	alias_add(a, module);
	return 0;
}

struct asking {
	const struct alias_watch *watch;
	size_t n;
};

static bool may_go_on(void *arg)
{
	const struct asking *a = arg;
	struct error ignored;

	return ask_watch(a->watch, a->n, &ignored) == 0;
}

static struct alias *analyse(const struct job *jobs, size_t n, const struct alias_watch *watch,
			     struct error *err)
{
	struct asking asking = { watch, n };
	struct alias *a = alias_new();

	solver_watch(a->solver, may_go_on, &asking);
	for (size_t i = 0; i < n; i++)
		if (read_module(a, jobs[i].output, err) < 0) {
			alias_close(a);
			return NULL;
		}
	if (!alias_solve(a)) {
		alias_close(a);
		error_set(err, "the program is too large for the pointer analysis");
		return NULL;
	}
	solver_watch(a->solver, NULL, NULL);
	return a;
}

struct alias *bitcode_open(const struct source_database *db, const struct alias_watch *watch,
			   struct error *err)
{
	struct tempdir scratch = { 0 };
	char *clang = llvm_clang();
	struct job *jobs = xcalloc(db->n + 1, sizeof *jobs);
	struct alias *a = NULL;

	if (!clang) {
		error_set(err, "clang is not installed (Debian's clang-" LLVM_NUMBER ")");
		goto out;
	}
	if (tempdir_open(&scratch, err) < 0)
		goto out;
	for (size_t i = 0; i < db->n; i++) {
		jobs[i].output = xasprintf("%s/%zu.bc", scratch.path, i);
		jobs[i].log = xasprintf("%s/%zu.log", scratch.path, i);
	}
	if (compile_all(jobs, clang, db, watch, err) == 0 && ask_watch(watch, db->n, err) == 0)
		a = analyse(jobs, db->n, watch, err);
	if (!a)
		/* who interrupts pmend may have interrupted the compilers, too */
		ask_watch(watch, db->n, err);
	for (size_t i = 0; i < db->n; i++) {
		arena_release(&jobs[i].arena);
		free(jobs[i].output);
		free(jobs[i].log);
	}
out:
	tempdir_close(&scratch);
	free(jobs);
	free(clang);
	return a;
}
