/* The table of all kinds of bugs. The text report, SARIF's rules and docs/report.md show these
 * texts. */
#include <string.h>

#include "report/bug.h"

const struct bug_kind bug_kinds[] = {
	{ "missing-flush", BUG_CORRECTNESS,
	  "A store is never flushed; the later fence does not help.",
	  "Flush it (clwb, pmem_flush) after the store and before the fence." },
	{ "missing-fence", BUG_CORRECTNESS,
	  "A store is flushed, but no fence of the same thread completes the flush.",
	  "Add a fence (sfence, pmem_drain) after the flush, in the thread that flushes." },
	{ "missing-flush-fence", BUG_CORRECTNESS, "A store is neither flushed nor fenced.",
	  "Flush and fence it (clwb and sfence, or pmem_persist), or mark it with PMEND_IGNORE if it need not survive a crash." },
	{ "short-flush", BUG_CORRECTNESS,
	  "A flush covers less than it was given: a helper leaves out lines, or a call has the wrong length.",
	  "Flush all cache lines of the range: from the beginning of the first one to the end of the last." },
	{ "redundant-flush", BUG_PERFORMANCE,
	  "A cache line is flushed again while its flush is not complete.",
	  "Remove one of the two flushes, or flush once for the whole range." },
	{ "redundant-fence", BUG_PERFORMANCE,
	  "A fence has nothing to complete: no flush and no non-temporal store since the last one.",
	  "Remove the fence. Leave a compiler barrier (atomic_signal_fence) if the order of the stores around it matters." },
	{ "flush-clean", BUG_PERFORMANCE, "A flush of a line to which nothing was stored.",
	  "Remove the flush, or flush only what was stored to." },
	{ "flush-volatile", BUG_PERFORMANCE, "A flush of memory that is not persistent.",
	  "Remove the flush; this memory does not survive the process. If it holds a pointer, was what it points to meant?" },
	{ "overwrite-unpersisted", BUG_CORRECTNESS,
	  "A value is overwritten before it is durable, so no crash is certain to find it.",
	  "Persist the first value before it is overwritten, or remove the first store if nobody needs it." },
	{ "transient-in-pm", BUG_PERFORMANCE,
	  "Data in persistent memory that recovery never needs.",
	  "Move it to ordinary memory, where stores are cheaper; or persist it if recovery needs it." },
	{ "tx-missing-add", BUG_CORRECTNESS,
	  "A store inside a transaction changes memory that was neither logged nor allocated in it.",
	  "Log the range before the store (TX_ADD, pmemobj_tx_add_range), or an abort will not undo it." },
	{ "tx-not-ended", BUG_CORRECTNESS,
	  "A transaction is still open when its operation or the program ends; its changes are undone later.",
	  "End it on every way out of the function (TX_END, or pmemobj_tx_commit and pmemobj_tx_end)." },
	{ "tx-redundant-add", BUG_PERFORMANCE,
	  "The same bytes are logged twice in one transaction.",
	  "Log them once, at the first change." },
	{ "tx-store-outside", BUG_CORRECTNESS,
	  "A store outside any transaction changes an object that elsewhere is modified only inside one.",
	  "Put the store into a transaction and log its range; or persist it as a single atomic word." },
	{ "ack-before-durable", BUG_CORRECTNESS,
	  "A request is answered before its stores are durable; only a later request's fence completes them.",
	  "Flush and fence in the operation itself, before the answer is sent." },
	{ "unpersisted-read", BUG_CORRECTNESS,
	  "A thread reads what another one stored before that is durable, and makes its own work durable first.",
	  "Flush and fence the store before another thread can read it: before the lock is released, or before the pointer is published. Or let the reader flush and fence what it read." },
	{ "assert-durable", BUG_CORRECTNESS,
	  "Memory that PMEND_ASSERT_DURABLE names may still be lost.",
	  "Flush and fence it before the assertion." },
	{ "assert-ordered", BUG_CORRECTNESS,
	  "PMEND_ASSERT_ORDERED fails: the second range may be durable before the first.",
	  "Flush and fence the first range before anything is stored to the second." },
	{ "cross-failure-race", BUG_CORRECTNESS,
	  "Recovery reads data that was not guaranteed to be durable at the crash.",
	  "Persist the data before anything that makes recovery rely on it." },
	{ "cross-failure-semantic", BUG_CORRECTNESS,
	  "Recovery reads data that its commit variable declares uncommitted or stale.",
	  "Read only what the commit variable covers, or set the variable after the data is durable." },
	{ "uninitialised-read", BUG_CORRECTNESS,
	  "Recovery reads persistent memory that was never written.",
	  "Initialise and persist it when the pool is created, or check that it is valid before reading it." },
	{ "ordering", BUG_CORRECTNESS,
	  "A crash can lose a store and keep a later one that depends on it.",
	  "Persist the earlier store (flush and fence) before the later one." },
	{ "atomicity", BUG_CORRECTNESS,
	  "A crash between stores that belong together leaves a state that recovery cannot handle.",
	  "Make the change atomic: a transaction, or one commit variable that is set last." },
	{ "recovery-failure", BUG_CORRECTNESS,
	  "Recovery fails although nothing is lost: at every start, or on the state before anything was stored.",
	  "Make recovery accept this state: exit with 0. Or make the program never pass through it." },
	{ "recovery-output", BUG_WARNING,
	  "Recovery succeeds, but prints what it never prints when nothing is lost.",
	  "Check whether this output is right. If not, persist the lost store before the surviving one, or let recovery check what it reads." },
	{ "program-crash", BUG_CORRECTNESS,
	  "The program itself is killed by a signal on some input.",
	  "Run it on that input under a debugger." },
	{ "program-hang", BUG_CORRECTNESS,
	  "The program itself does not end within the time limit on some input.",
	  "Run it on that input under a debugger, or give it more time with --timeout." },
	{ "rename-before-fsync", BUG_CORRECTNESS,
	  "A file gets its name before what was written to it is durable.",
	  "Call fsync (or fdatasync) on the file before the rename." },
	{ "missing-fsync", BUG_CORRECTNESS, "What is written to a file is never synced.",
	  "Call fsync or fdatasync on the file before anyone relies on it, or leave the file out with --files-except if it need not survive a crash." },
	{ "unlink-before-durable", BUG_CORRECTNESS,
	  "A file is removed before what replaces it is durable.",
	  "Call fsync (or fdatasync) on the file that replaces it before the removal." },
	{ "missing-dir-fsync", BUG_WARNING,
	  "A name is made, changed or removed, and the folder is not synced.",
	  "Open the folder and call fsync on it. Some file systems keep names in order without that; POSIX does not promise it." },
	{ "redundant-fsync", BUG_PERFORMANCE,
	  "A file is synced, and nothing has changed since the last time.",
	  "Remove one of the two calls." },
	{ "porting", BUG_PORTING,
	  "On arm64, a crash can lose a store and keep a later one to the same line; on amd64 it cannot.",
	  "Make the store a release (atomic_store_explicit with memory_order_release), or put a fence before it; if nothing depends on it, leave it." },
	{ 0 },
};

const struct bug_kind *bug_kind_find(const char *name)
{
	const struct bug_kind *k;

	for (k = bug_kinds; k->name; k++)
		if (strcmp(k->name, name) == 0)
			return k;
	return NULL;
}

const char *bug_severity_name(enum bug_severity s)
{
	switch (s) {
	case BUG_CORRECTNESS: return "correctness";
	case BUG_PERFORMANCE: return "performance";
	case BUG_PORTING: return "porting";
	case BUG_WARNING: return "warning";
	case BUG_SEVERITIES: break;
	}
	BUG("severity %d", (int)s);
}

const char *bug_use_name(enum bug_use u)
{
	static const char *const names[] = { NULL, "reads", "overwrites", "never-touches" };

	return names[u];
}

const char *bug_use_text(enum bug_use u)
{
	static const char *const texts[] = {
		NULL, "recovery reads it",
		"recovery overwrites it before reading it in its run on the final state",
		"recovery does not access it in its run on the final state"
	};

	return texts[u];
}

bool bug_is_last(const struct bug *b)
{
	return (b->use == BUG_USE_OVERWRITES || b->use == BUG_USE_NONE) && !b->crash;
}

const char *bug_advice(const struct bug *b)
{
	const struct bug_kind *k = b->advice ? NULL : bug_kind_find(b->kind);

	return k ? k->advice : b->advice;
}
