/* Uses Slurm: an array job with one task per part. A task that is started again continues where its
 * part ended. Paths and words are in the script's body, not in #SBATCH lines, so only a shell's
 * quoting rules apply. */
#include <stdlib.h>
#include <string.h>

#include "distribute/spread/engine.h"
#include "util/alloc.h"
#include "util/output.h"
#include "util/shell_word.h"

static bool is_word(const char *text)
{
	return !text || (*text && !text[strcspn(text, " \t\r\n")]);
}

static int check(const struct spread *s, struct error *err)
{
	if (s->image || s->claim)
		return error_set(err, "--image and --claim are for Kubernetes");
	if (!is_word(s->partition) || !is_word(s->time))
		return error_set(err, "--partition and --time take one word, as sbatch does");
	for (size_t i = 0; i < s->more.n; i++)
		if (s->more.item[i][0] != '-' || strpbrk(s->more.item[i], "\r\n"))
			return error_set(
				err,
				"--sbatch takes an option of sbatch, such as --account=lab, not '%s'",
				s->more.item[i]);
	return 0;
}

/* Writes the numbers of the parts that are not over, as in "1-3,7". */
static void put_array(const struct spread *s, const struct spread_parts *todo, FILE *out)
{
	const char *comma = "";

	for (uint32_t first = 0, next; first < s->nparts; first = next + 1) {
		for (next = first; next < s->nparts && !(todo && todo->at[next].is_over); next++)
			;
		if (next == first)
			continue;
		fprintf(out, next - first == 1 ? "%s%u" : "%s%u-%u", comma, first + 1, next);
		comma = ",";
	}
	if (s->nnodes)
		fprintf(out, "%%%u", s->nnodes);
}

static void put_options(const struct spread *s, const struct spread_parts *todo, FILE *out)
{
	fputs("#SBATCH --job-name=pmend\n#SBATCH --array=", out);
	put_array(s, todo, out);
	fputs("\n#SBATCH --requeue\n#SBATCH --output=/dev/null\n#SBATCH --nodes=1\n#SBATCH --ntasks=1\n",
	      out);
	if (s->nnodes && !s->ncpus)
		fputs("#SBATCH --exclusive\n", out);
	if (s->ncpus)
		fprintf(out, "#SBATCH --cpus-per-task=%u\n", s->ncpus);
	if (s->partition)
		fprintf(out, "#SBATCH --partition=%s\n", s->partition);
	if (s->time)
		fprintf(out, "#SBATCH --time=%s\n", s->time);
	for (size_t i = 0; i < s->more.n; i++)
		fprintf(out, "#SBATCH %s\n", s->more.item[i]);
}

static void print(const struct spread *s, const struct spread_parts *todo, FILE *out)
{
	char *folder = shell_word(s->folder), *cwd = shell_word(s->cwd),
	     *pmend = shell_word(s->pmend);

	fputs("#!/bin/bash\n# Each task explores a part. If it is started again, it continues where the part ended. Written by 'pmend submit slurm'.\n",
	      out);
	put_options(s, todo, out);
	fprintf(out, "part=%s/part-$SLURM_ARRAY_TASK_ID-of-%u\n", folder, s->nparts);
	fputs("exec >>\"$part.log\" 2>&1\n", out);
	fprintf(out, "cd %s || exit 3\n", cwd);
	if (!s->says_jobs)
		fputs("cores=${SLURM_CPUS_ON_NODE:-1}\n", out);
	fprintf(out, "%s crash --shard \"$SLURM_ARRAY_TASK_ID/%u\" --continue \"$part.json\"",
		pmend, s->nparts);
	if (!s->says_jobs)
		fputs(" --jobs $((cores < 256 ? cores : 256))", out);
	shell_words_print(s->words, out);
	fputs("\nstatus=$?\n"
	      "echo $status >\"$part.status\"\n"
	      "[ $status -eq 1 ] && exit 0 # bugs were found; the task itself succeeded\n"
	      "exit $status\n",
	      out);
	free(folder);
	free(cwd);
	free(pmend);
}

static char *submit(const char *file, struct error *err)
{
	char sbatch[] = "sbatch", parsable[] = "--parsable", *path = xstrdup(file),
	     *argv[] = { sbatch, parsable, path, NULL };
	char *job = output_of(argv, err);

	free(path);
	if (job) /* sbatch prints "17;cluster" */
		job[strspn(job, "0123456789")] = '\0';
	if (job && !*job) {
		free(job);
		error_set(err, "sbatch does not say which job it is");
		return NULL;
	}
	return job;
}

/* Counts the task that a line of squeue describes, such as "17|PENDING|Resources", if it belongs to
 * the job. */
static void count_task(char *line, const char *job, struct queue *q)
{
	char *state = strchr(line, '|'), *reason = state ? strchr(state + 1, '|') : NULL;

	if (!reason)
		return;
	*state++ = *reason++ = '\0';
	if (strcmp(line, job) != 0)
		return;
	if (strcmp(state, "PENDING") != 0) {
		q->nrunning++;
		return;
	}
	q->nwaiting++;
	if (strcasestr(reason, "held")) {
		q->is_held = true;
		free(q->reason);
		q->reason = NULL;
	}
	if (!q->reason)
		q->reason = xstrdup(reason);
}

/* Fills q with the state of the job's tasks. Asks squeue for all jobs of the user, because squeue
 * fails if asked about a job that it has forgotten. */
static int look(const char *job, struct queue *q, struct error *err)
{
	char *argv[] = { "squeue", "--noheader", "--array", "--me", "--format=%F|%T|%r", NULL };
	char *lines = output_of(argv, err), *rest;

	*q = (struct queue){ 0 };
	if (!lines)
		return -1;
	for (char *line = strtok_r(lines, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		count_task(line, job, q);
	free(lines);
	return 0;
}

static int cancel(const char *job, struct error *err)
{
	char *id = xstrdup(job), *argv[] = { "scancel", id, NULL };
	char *said = output_of(argv, err);

	free(id);
	free(said);
	return said ? 0 : -1;
}

const struct engine engine_slurm = { .name = "slurm",
				     .check = check,
				     .print = print,
				     .submit = submit,
				     .look = look,
				     .cancel = cancel };
