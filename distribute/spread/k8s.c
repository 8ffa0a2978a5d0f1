/* Writes a Kubernetes manifest: a Job with numbered pods. pmend talks to no cluster. Texts are
 * written as JSON strings, which are valid YAML. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "distribute/spread/engine.h"
#include "util/alloc.h"
#include "util/shell_word.h"

#define RETRIES_MAX 100000u

static bool is_text(const char *text)
{
	json_t *value = json_string(text);

	json_decref(value);
	return value != NULL;
}

static int check(const struct spread *s, struct error *err)
{
	bool is_well = is_text(s->folder) && is_text(s->cwd);

	if (!s->image)
		return error_set(err, "--image is needed: a container image with pmend");
	if (s->partition || s->time || s->more.n > 0)
		return error_set(err, "--partition, --time and --sbatch are for Slurm");
	for (char *const *w = s->words; *w; w++)
		is_well &= is_text(*w);
	if (!is_well || !is_text(s->image) || (s->claim && !is_text(s->claim)))
		return error_set(err, "a manifest is UTF-8, and one of the words is not");
	return 0;
}

static void put_text(FILE *out, const char *text)
{
	json_t *value = json_string(text);
	char *quoted = value ? json_dumps(value, JSON_ENCODE_ANY) : NULL;

	fputs(quoted ? quoted : "\"\"", out);
	free(quoted);
	json_decref(value);
}

/* Doubles each $, because Kubernetes replaces $(NAME) in a command. */
static char *doubled(char *text)
{
	char *longer = xmalloc(2 * strlen(text) + 1), *at = longer;

	for (const char *c = text; *c; c++) {
		*at++ = *c;
		if (*c == '$')
			*at++ = *c;
	}
	*at = '\0';
	free(text);
	return longer;
}

/* Makes the shell script that a pod runs. Kubernetes numbers pods from 0, pmend numbers parts from
 * 1. */
static char *script_of(const struct spread *s)
{
	char *folder = shell_word(s->folder), *pmend = shell_word(s->pmend), *script;
	size_t len;
	FILE *f = open_memstream(&script, &len);

	if (!f)
		alloc_die();
	fprintf(f,
		"mkdir -p %s; i=$((JOB_COMPLETION_INDEX + 1)); %s crash --shard $i/%u --continue %s/part-$i-of-%u.json",
		folder, pmend, s->nparts, folder, s->nparts);
	if (!s->says_jobs)
		fprintf(f, " --jobs %u", s->ncpus ? s->ncpus : 1);
	shell_words_print(s->words, f);
	fputs("; status=$?; [ $status -eq 1 ] && exit 0; exit $status", f);
	fclose(f);
	free(folder);
	free(pmend);
	return doubled(script);
}

static void put_volume(const struct spread *s, FILE *out)
{
	if (!s->claim)
		return;
	fputs("          volumeMounts:\n            - name: work\n              mountPath: ", out);
	put_text(out, s->cwd);
	fputs("\n      volumes:\n        - name: work\n          persistentVolumeClaim:\n            claimName: ",
	      out);
	put_text(out, s->claim);
	fputc('\n', out);
}

static void print(const struct spread *s, const struct spread_parts *todo, FILE *out)
{
	const uint64_t nretries = (uint64_t)s->nparts * s->nretries;
	char *folder = shell_word(s->folder), *script = script_of(s);

	(void)todo;
	fprintf(out,
		"# When it is complete, in the folder of the trace: pmend merge -o REPORT.json %s/part-*-of-%u.json\n",
		folder, s->nparts);
	fputs("apiVersion: batch/v1\nkind: Job\nmetadata:\n  generateName: pmend-\nspec:\n  completionMode: Indexed\n",
	      out);
	fprintf(out, "  completions: %u\n  parallelism: %u\n", s->nparts,
		s->nnodes ? s->nnodes : s->nparts);
	fprintf(out, "  backoffLimit: %u\n",
		nretries < RETRIES_MAX ? (unsigned)nretries : RETRIES_MAX);
	fputs("  template:\n    spec:\n      restartPolicy: OnFailure\n      containers:\n        - name: pmend\n          image: ",
	      out);
	put_text(out, s->image);
	fputs("\n          workingDir: ", out);
	put_text(out, s->cwd);
	fprintf(out, "\n          resources:\n            requests:\n              cpu: \"%u\"\n",
		s->ncpus ? s->ncpus : 1);
	fputs("          command: [\"/bin/sh\", \"-c\", ", out);
	put_text(out, script);
	fputs("]\n", out);
	put_volume(s, out);
	free(folder);
	free(script);
}

const struct engine engine_k8s = { .name = "k8s", .check = check, .print = print };
