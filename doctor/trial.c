/* Does pmend's main job once: records a small program, which is pmend itself, and runs it as
 * recovery on crash states. What fails here also fails for the user's programs, for the same
 * reason. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "crash/search/strategies.h"
#include "explore/graph/insn.h"
#include "session/crashing.h"
#include "doctor/checks.h"
#include "record/machine.h"
#include "util/alloc.h"
#include "util/proc.h"
#include "util/tempdir.h"

enum { PROBE_BYTES = 4096, PROBE_SECOND = 128 /* so that it is in another cache line */ };

int doctor_probe(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	volatile uint64_t *first, *second;
	char *pool;

	if (fd < 0 || ftruncate(fd, PROBE_BYTES) < 0)
		return -1;
	pool = mmap(NULL, PROBE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (pool == MAP_FAILED)
		return -1;
	first = (volatile uint64_t *)pool;
	second = (volatile uint64_t *)(pool + PROBE_SECOND);
	*second = *first + 1; /* recovery reads what a crash left undecided */
	__sync_synchronize();
	*first = *second + 1;
	munmap(pool, PROBE_BYTES);
	return 0;
}

void check_recorder(struct doctor_finding *f)
{
	struct error err;
	char *folder = recorder_folder(&err);

	if (folder)
		finding_set(f, DOCTOR_OK, xasprintf("%s/%s", folder, machine_own()->tool), NULL);
	else
		finding_set(f, DOCTOR_MISSING, xstrdup(err.msg), xstrdup("install pmend again"));
	free(folder);
}

void check_valgrind(struct doctor_finding *f)
{
	char *path = proc_find("valgrind"), option[] = "--version",
	     *argv[] = { path, option, NULL };
	char *version = path ? program_says(argv) : NULL;

	if (version)
		finding_set(f, DOCTOR_OK, xasprintf("%s (%s)", version, path), NULL);
	else
		finding_set(f, DOCTOR_MISSING,
			    xstrdup(path ? "valgrind does not start" : "valgrind is not installed"),
			    xstrdup("apt-get install valgrind"));
	free(version);
	free(path);
}

/* ---- the trial ---- */

struct trial {
	struct tempdir folder;
	char exe[PATH_MAX];
	char *pool, *trace;
};

/* Appends a message to one line that collects all messages. */
static void collect_message(const char *text, void *arg)
{
	char **all = arg, *longer = xasprintf("%s%s%s", *all ? *all : "", *all ? "; " : "", text);

	free(*all);
	*all = longer;
}

static void collect_quote(const char *text, size_t len_bytes, void *arg)
{
	char *line = xasprintf("%.*s",
			       (int)strcspn(text, "\n") < (int)len_bytes ? (int)strcspn(text, "\n")
									 : (int)len_bytes,
			       text);

	collect_message(line, arg);
	free(line);
}

static int trial_record(struct trial *t, char **said, struct error *err)
{
	const struct notes notes = { collect_message, collect_quote, said };
	char command[] = "doctor", option[] = "--probe",
	     *argv[] = { t->exe, command, option, NULL, NULL };
	struct recording r = { .platform = machine_platform(), .quiet = true, .notes = &notes };
	ssize_t n = readlink("/proc/self/exe", t->exe, sizeof t->exe - 1);

	if (n < 0)
		return error_set(err, "cannot read /proc/self/exe: %s; is /proc mounted?",
				 strerror(errno));
	if (tempdir_open(&t->folder, err) < 0)
		return -1;
	t->pool = xasprintf("%s/pool", t->folder.path);
	t->trace = xasprintf("%s/trace.pmt", t->folder.path);
	argv[3] = t->pool;
	r.output = t->trace;
	switch (recording_run(&r, argv, err)) {
	case RECORDED_WELL: return 0;
	case RECORDED_NOTHING: return -1;
	case RECORDED_NO_PM:
		return error_set(
			err, "the recorder did not see the persistent memory of the test program");
	case RECORDED_FAILURE:
	case RECORDED_STOPPED: return error_set(err, "the test program failed");
	}
	return -1;
}

static void trial_end(struct trial *t)
{
	tempdir_close(&t->folder);
	free(t->pool);
	free(t->trace);
}

static char *why_not(const char *msg, const char *said)
{
	return said ? xasprintf("%s (%s)", msg, said) : xstrdup(msg);
}

void check_recording(struct doctor_finding *f)
{
	struct trial t = { 0 };
	char *said = NULL;
	struct error err;

	if (trial_record(&t, &said, &err) == 0)
		finding_set(f, DOCTOR_OK, xstrdup("a small program was recorded"), NULL);
	else
		finding_set(f, DOCTOR_MISSING, why_not(err.msg, said),
			    xstrdup("see the messages above"));
	free(said);
	trial_end(&t);
}

/* Quotes a word of a command line with a backslash before each character. */
static char *quoted(const char *word)
{
	char *out = xmalloc(2 * strlen(word) + 1), *at = out;

	for (; *word; word++) {
		*at++ = '\\';
		*at++ = *word;
	}
	*at = '\0';
	return out;
}

static void tell_coverage(struct doctor_finding *f, const struct report_coverage *c, bool is_whole)
{
	char *runs = xasprintf("%" PRIu64 " runs at %" PRIu64 " failure points", c->runs,
			       c->failure_points);
	const char *why = c->why_incomplete ? c->why_incomplete : c->note;

	if (c->whole_runs > 0)
		finding_set(
			f, DOCTOR_LIMITED,
			xasprintf("%s, on whole images: %s", runs,
				  why ? why : "recovery cannot be watched"),
			xstrdup(insn_set.todo
					? insn_set.todo
					: "nothing to do, but recovery runs are slower, and more are needed"));
	else if (!is_whole || !c->is_complete)
		finding_set(f, DOCTOR_LIMITED,
			    xasprintf("%s: %s", runs, why ? why : "not all states were run"),
			    xstrdup("see docs/places.md for what recovery needs"));
	else
		finding_set(f, DOCTOR_OK, xstrdup(runs), NULL);
	free(runs);
}

void check_recovery(struct doctor_finding *f)
{
	struct crash_setup s = { .options.strategy = strategies[0], .recovery.ok_status[0] = true };
	struct report *report = report_new();
	char *said = NULL, *exe, *line = NULL;
	const struct notes notes = { collect_message, collect_quote, &said };
	struct trial t = { 0 };
	struct error err;
	bool is_whole;

	if (trial_record(&t, &said, &err) < 0) {
		finding_set(f, DOCTOR_MISSING, xstrdup("recording does not work"),
			    xstrdup("make recording work first"));
		goto out;
	}
	exe = quoted(t.exe);
	line = xasprintf("%s doctor --probe {}", exe);
	free(exe);
	s.recover = line;
	s.notes = s.recording.notes = &notes;
	if (crash_setup_command(&s, CRASH_RECOVER, line, &err) < 0 ||
	    crash_setup_begin(&s, &err) < 0 ||
	    crashing_explore(&s, t.trace, t.trace, report, &is_whole, &err) < 0)
		finding_set(f, DOCTOR_MISSING, why_not(err.msg, said),
			    xstrdup("see docs/places.md for what recovery needs"));
	else
		tell_coverage(f, report_coverage(report), is_whole);
	crash_setup_end(&s);
out:
	report_free(report);
	free(said);
	free(line);
	trial_end(&t);
}
