/* Checks the options about threads. Whether a trace has what they need is said by its first
 * events. */
#include "cmd/threads_option.h"

#include "trace/trace.h"

/* Was the trace recorded with --threads? It says so before its first event of another kind than
 * PROCESS and META. */
static bool has_threads(const char *path)
{
	struct trace_event ev;
	struct error err;
	struct trace *t;
	bool has;

	if (trace_open(&t, path, &err) < 0)
		die("%s", err.msg);
	while (trace_next(t, &ev) && (ev.kind == PMT_PROCESS || ev.kind == PMT_META))
		continue;
	has = trace_meta(t, "threads") != NULL;
	trace_close(t);
	return has;
}

void threads_option_check(const struct command *c, const struct recording *r, char *const *words,
			  size_t ntraces)
{
	if (r->lock_calls.n + r->unlock_calls.n > 0 && ntraces > 0)
		die_usage(
			c,
			"--lock-call and --unlock-call apply only to recording a program, not to a trace");
	if (r->lock_calls.n + r->unlock_calls.n > 0 && !r->threads)
		die_usage(c, "--lock-call and --unlock-call need --threads");
	for (size_t i = 0; r->threads && i < ntraces; i++)
		if (!has_threads(words[i]))
			die_usage(c,
				  "%s was recorded without --threads: record again with --threads",
				  words[i]);
}
