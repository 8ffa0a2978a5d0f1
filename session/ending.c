/* Tells a report how the recording ended: by damage, as the first process ended, or because another one, or a thread, was cut off. */
#include "session/ending.h"

#include <stdlib.h>

#include "util/alloc.h"
#include "util/proc.h"

const char *ending_loss(const struct trace *t)
{
	return trace_is_cut_off(t) ? NULL : trace_damage(t);
}

static void tell(struct report *r, const char *how, uint32_t code, char *text)
{
	report_set_ending(r, &(struct report_ending){ .how = how, .code = code, .text = text });
	free(text);
}

void ending_tell(struct report *r, const struct trace *t, enum cut_extent cut)
{
	struct pmt_ending e = trace_ending(t);
	char name[64];

	if (ending_loss(t))
		tell(r, "damage", 0, xasprintf("The recording is damaged: %s", ending_loss(t)));
	else if (e.how == PMT_END_SIGNAL)
		tell(r, "signal", e.code,
		     xasprintf("The recording ended when the program was killed by %s",
			       proc_signal_name((int)e.code, name, sizeof name)));
	else if (e.how == PMT_END_EXIT && e.code != 0)
		tell(r, "exit", e.code, xasprintf("The program ended with exit status %u", e.code));
	else if (e.how == PMT_END_EXIT && cut == CUT_THREAD && report_nunflushed(r) > 0)
		tell(r, "thread", 0,
		     xstrdup("A thread was still running when another one ended the program"));
	else if (e.how == PMT_END_EXIT && cut == CUT_PROCESS)
		tell(r, "process", 0, xstrdup("A process that the program started was killed"));
	else if (e.how != PMT_END_EXIT && cut == CUT_PROCESS)
		tell(r, "unknown", 0,
		     xstrdup("The recording ended abruptly: the program was killed, or is still running"));
}
