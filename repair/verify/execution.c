/* Counts what a trace recorded, and computes its signature. Stored bytes do not count, since
 * libraries put random numbers into pools. */
#include "repair/verify/execution.h"

#include <stdlib.h>
#include <string.h>

#include "trace/trace.h"

static void sign(uint64_t *signature, const struct trace_event *ev)
{
	uint64_t more = ev->kind == PMT_FILE      ? ev->arg[2]
			: ev->kind == PMT_CONTENT ? ev->data_len
						  : 0;
	const uint64_t words[] = { ev->kind, ev->thread, ev->addr, ev->size_bytes, more };

	if (ev->kind == PMT_META)
		return;
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		*signature = (*signature ^ words[i]) * 0x100000001b3u;
}

/* Returns the number of instructions that the event contains, which the recorder writes at the end
 * of each process; 0: it is another event. */
static uint64_t instructions_of(const struct trace_event *ev)
{
	static const char key[] = "instructions=";
	uint64_t n;
	char *number;

	if (ev->kind != PMT_META || ev->data_len <= strlen(key) ||
	    memcmp(ev->data, key, strlen(key)) != 0)
		return 0;
	number = strndup((const char *)ev->data + strlen(key), ev->data_len - strlen(key));
	n = strtoull(number, NULL, 10);
	free(number);
	return n;
}

int execution_read(struct execution *e, const char *trace, struct error *err)
{
	struct trace_event ev;
	struct trace *t;

	*e = (struct execution){ 0 };
	if (trace_open(&t, trace, err) < 0)
		return -1;
	while (trace_next(t, &ev)) {
		sign(&e->signature, &ev);
		e->nflushes += trace_is_flush(ev.kind);
		e->nfences += trace_is_barrier(ev.kind);
		e->nlogged_bytes += ev.kind == PMT_TX_ADD ? ev.arg[0] : 0;
		e->ninstructions += instructions_of(&ev);
	}
	trace_close(t);
	return 0;
}
