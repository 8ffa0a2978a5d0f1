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

static void folder_make(struct exploring *x, const char *name)
{
	if (mkdir(name, 0777) < 0 && errno != EEXIST)
		exploring_die(x, "cannot make the folder %s: %s", name, strerror(errno));
}

/* One line that is the same only for the same exploration. */
static char *head_make(const struct exploring *x)
{
	uint64_t h = 0xcbf29ce484222325ULL;

	for (size_t i = 0; x->target[i]; i++)
		for (const char *p = x->target[i];; p++) {
			h = (h ^ (uint8_t)*p) * 0x100000001b3ULL;
			if (!*p)
				break;
		}
	for (size_t i = 0; i < x->parts.list.n; i++)
		h = (h ^ (uint64_t)x->parts.list.at[i].kind) * 0x100000001b3ULL ^ x->parts.list.at[i].len_bytes;
	return xasprintf("pmend explore state 2, %zu bytes, program and input %016" PRIx64 "\n", x->parts.len_bytes, h);
}

static FILE *state_open(struct exploring *x, const char *mode)
{
	char *name = xasprintf("%s/state", x->out);
	FILE *f = fopen(name, mode);

	if (!f && mode[0] != 'r')
		exploring_die(x, "cannot write %s: %s", name, strerror(errno));
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

	for (size_t i = 0; r && i < report_nbugs(r); i++)
		report_add(x->report, report_bug(r, i));
	report_free(r);
	free(name);
}

static void resume(struct exploring *x, FILE *f)
{
	char line[8192], *head = head_make(x), object[8192];
	uint64_t step, offset;
	int64_t parent;

	if (!fgets(line, sizeof line, f) || strcmp(line, head) != 0)
		exploring_die(x, "%s holds another exploration; choose another folder with --out, or remove it", x->out);
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "run %" SCNd64 " %" SCNu64, &parent, &step) == 2) {
			if (!run_again(x, parent, step))
				exploring_die(x, "%s is damaged: run %" PRIu64 " cannot be read; remove the folder to start anew", x->out, x->nruns);
		} else if (sscanf(line, "pm %" SCNu64 " %8191[^\n]", &offset, object) == 2) {
			explore_cover(x->explore, object, offset);
			x->has_pm = true;
		}
	}
	free(head);
	report_resume(x);
}

void exploring_open(struct exploring *x, const char *name)
{
	char *corpus = xasprintf("%s/corpus", name), *paths = xasprintf("%s/paths", name), *head;
	char *traces = xasprintf("%s/traces", name);
	FILE *f;

	folder_make(x, name);
	folder_make(x, corpus);
	folder_make(x, paths);
	if (x->wants_crashes)
		folder_make(x, traces);
	free(traces);
	free(corpus);
	free(paths);
	x->out = realpath(name, NULL);
	if (!x->out)
		exploring_die(x, "cannot find %s: %s", name, strerror(errno));
	f = state_open(x, "r");
	if (f) {
		resume(x, f);
		fclose(f);
		return;
	}
	f = state_open(x, "w");
	head = head_make(x);
	fputs(head, f);
	if (fclose(f) != 0)
		exploring_die(x, "cannot write to %s: %s", x->out, strerror(errno));
	free(head);
}

bool exploring_note_pm(struct exploring *x, const char *object, uint64_t offset)
{
	FILE *f;

	if (!explore_cover(x->explore, object, offset))
		return false;
	f = state_open(x, "a");
	fprintf(f, "pm %" PRIu64 " %s\n", offset, object);
	fclose(f);
	return true;
}

void exploring_save(struct exploring *x, const struct explore_input *in)
{
	char *name = exploring_input_file(x, x->nruns);
	FILE *f = fopen(name, "wb");

	if (!f || fwrite(in->bytes, 1, x->parts.len_bytes, f) != x->parts.len_bytes || fclose(f) != 0)
		exploring_die(x, "cannot write %s: %s", name, strerror(errno));
	free(name);
	f = state_open(x, "a");
	fprintf(f, "run %" PRId64 " %" PRIu32 "\n", in->parent == EXPLORE_NO_RUN ? (int64_t)-1 : (int64_t)in->parent, in->step);
	if (fclose(f) != 0)
		exploring_die(x, "cannot write to %s: %s", x->out, strerror(errno));
}
