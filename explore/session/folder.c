/* The folder of an exploration, from which a later start goes on:
 *
 *	corpus/000000 …     inputs, in the order of the runs
 *	paths/000000.pmp    the path that each took (include/pmpath.h)
 *	state               text: what was explored, then a line for each run ("run PARENT STEP", a seed's parent is -1) and for each instruction
 *	                    that modified PM ("pm OFFSET OBJECT")
 *	traces/000000.pmt   with --recover: recordings whose crashes were explored
 *	report.json         what was found so far
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "explore/session/exploring.h"
#include "util/alloc.h"

char *exploring_input_file(const struct exploring *x, uint64_t run)
{
	return xasprintf("%s/corpus/%06" PRIu64, x->out, run);
}

char *exploring_path_file(const struct exploring *x, uint64_t run)
{
	return xasprintf("%s/paths/%06" PRIu64 ".pmp", x->out, run);
}

char *exploring_trace_file(const struct exploring *x, uint64_t run)
{
	return xasprintf("%s/traces/%06" PRIu64 ".pmt", x->out, run);
}

static int folder_make(const char *name, struct error *err)
{
	if (mkdir(name, 0777) < 0 && errno != EEXIST)
		return error_set(err, "cannot make the folder %s: %s", name, strerror(errno));
	return 0;
}

/* One line that is the same only for the same exploration. */
static char *head_make(const struct exploring *x)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (size_t i = 0; x->shown[i]; i++)
		for (const char *p = x->shown[i];; p++) {
			h = (h ^ (uint8_t)*p) * 0x100000001b3ULL;
			if (!*p)
				break;
		}
	for (size_t i = 0; i < x->parts.list.n; i++)
		h = (h ^ (uint64_t)x->parts.list.at[i].kind) * 0x100000001b3ULL ^ x->parts.list.at[i].len_bytes;
	return xasprintf("pmend explore state 2, %zu bytes, program and input %016" PRIx64 "\n", x->parts.len_bytes, h);
}

/* NULL if it cannot be opened; err says why. */
static FILE *state_open(const struct exploring *x, const char *mode, struct error *err)
{
	char *name = xasprintf("%s/state", x->out);
	FILE *f = fopen(name, mode);

	if (!f)
		error_set(err, "cannot write %s: %s", name, strerror(errno));
	free(name);
	return f;
}

static bool input_read(const struct exploring *x, uint64_t run, uint8_t *bytes)
{
	char *name = exploring_input_file(x, run);
	FILE *f = fopen(name, "rb");
	bool ok = f && fread(bytes, 1, x->parts.len_bytes, f) == x->parts.len_bytes;

	if (f)
		fclose(f);
	free(name);
	return ok;
}

static bool run_again(struct exploring *x, int64_t parent, uint64_t step)
{
	struct explore_input in = { .bytes = xmalloc(x->parts.len_bytes + 1),
				    .parent = parent < 0 ? EXPLORE_NO_RUN : (uint32_t)parent,
				    .step = (uint32_t)step };
	char *path_file = exploring_path_file(x, x->nruns);
	struct error err;
	bool ok = parent < (int64_t)x->nruns && input_read(x, x->nruns, in.bytes);

	if (ok) {
		explore_known(x->explore, &in);
		if (explore_done(x->explore, &in, path_file, &err) < 0)
			x->nbad++;
		x->nruns++;
	}
	explore_input_release(&in);
	free(path_file);
	return ok;
}

static void report_resume(struct exploring *x)
{
	char *name = xasprintf("%s/report.json", x->out);
	struct error err;
	struct report *r = access(name, R_OK) == 0 ? report_read(name, &err) : NULL;

	if (r)
		report_add_run(x->report, r, NULL);
	report_free(r);
	free(name);
}

static int line_resume(struct exploring *x, const char *line, struct error *err)
{
	char object[8192];
	uint64_t step, offset;
	int64_t parent;

	if (sscanf(line, "run %" SCNd64 " %" SCNu64, &parent, &step) == 2) {
		if (!run_again(x, parent, step))
			return error_set(err, "%s is damaged: run %" PRIu64 " cannot be read; remove the folder to start again", x->out, x->nruns);
	} else if (sscanf(line, "pm %" SCNu64 " %8191[^\n]", &offset, object) == 2) {
		explore_cover(x->explore, object, offset);
		x->has_pm = true;
	}
	return 0;
}

static int resume(struct exploring *x, FILE *f, struct error *err)
{
	char line[8192], *head = head_make(x);
	int result = 0;

	if (!fgets(line, sizeof line, f) || strcmp(line, head) != 0)
		result = error_set(err, "%s holds another exploration; choose another folder with --out, or remove it", x->out);
	while (result == 0 && fgets(line, sizeof line, f))
		result = line_resume(x, line, err);
	free(head);
	if (result == 0)
		report_resume(x);
	return result;
}

static int folders_make(const struct exploring *x, const char *name, struct error *err)
{
	static const char *const parts[] = { "corpus", "paths", "traces" };
	int result = folder_make(name, err);

	for (size_t i = 0; result == 0 && i < (x->wants_crashes ? 3 : 2); i++) {
		char *part = xasprintf("%s/%s", name, parts[i]);

		result = folder_make(part, err);
		free(part);
	}
	return result;
}

static int begin(struct exploring *x, struct error *err)
{
	FILE *f = state_open(x, "w", err);
	char *head;
	int result = 0;

	if (!f)
		return -1;
	head = head_make(x);
	fputs(head, f);
	if (fclose(f) != 0)
		result = error_set(err, "cannot write to %s: %s", x->out, strerror(errno));
	free(head);
	return result;
}

int exploring_open(struct exploring *x, const char *name, struct error *err)
{
	struct error ignored;
	FILE *f;
	int result;

	if (folders_make(x, name, err) < 0)
		return -1;
	x->out = realpath(name, NULL);
	if (!x->out)
		return error_set(err, "cannot find %s: %s", name, strerror(errno));
	f = state_open(x, "r", &ignored);
	if (!f)
		return begin(x, err);
	result = resume(x, f, err);
	fclose(f);
	return result;
}

int exploring_note_pm(struct exploring *x, const char *object, uint64_t offset, struct error *err)
{
	FILE *f;

	if (!explore_cover(x->explore, object, offset))
		return 0;
	f = state_open(x, "a", err);
	if (!f)
		return -1;
	fprintf(f, "pm %" PRIu64 " %s\n", offset, object);
	fclose(f);
	return 1;
}

static int input_write(const struct exploring *x, const uint8_t *bytes, struct error *err)
{
	char *name = exploring_input_file(x, x->nruns);
	FILE *f = fopen(name, "wb");
	int result = 0;

	if (!f || fwrite(bytes, 1, x->parts.len_bytes, f) != x->parts.len_bytes || fclose(f) != 0)
		result = error_set(err, "cannot write %s: %s", name, strerror(errno));
	free(name);
	return result;
}

int exploring_save(struct exploring *x, const struct explore_input *in, struct error *err)
{
	FILE *f;

	if (input_write(x, in->bytes, err) < 0)
		return -1;
	f = state_open(x, "a", err);
	if (!f)
		return -1;
	fprintf(f, "run %" PRId64 " %" PRIu32 "\n", in->parent == EXPLORE_NO_RUN ? (int64_t)-1 : (int64_t)in->parent, in->step);
	if (fclose(f) != 0)
		return error_set(err, "cannot write to %s: %s", x->out, strerror(errno));
	return 0;
}
