/* Keeps a trace that was recorded into a scratch folder. If it cannot be kept, a message says so,
 * but the exit status does not change, because the report exists. */
#include "cmd/trace_keep.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cmd/cmd.h"
#include "util/files.h"
#include "util/alloc.h"

/* Has another process claimed this name in this folder? If not, claims it until pmend ends, by
 * binding a socket address, which only one process can have at a time and which needs no file. */
static bool is_claimed_by_other(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), n;
	struct stat here;

	if (fd < 0 || stat(".", &here) < 0)
		return false;
	n = snprintf(at.sun_path + 1, sizeof at.sun_path - 1, "pmend/%" PRIx64 "/%" PRIx64 "/%s",
		     (uint64_t)here.st_dev, (uint64_t)here.st_ino, name);
	return bind(fd, (struct sockaddr *)&at,
		    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) < 0 &&
	       errno == EADDRINUSE;
}

char *trace_keep_name(const char *command)
{
	char *name = xasprintf(OUT_FOLDER "/%s.pmt", command);

	if (!is_claimed_by_other(name))
		return name;
	free(name);
	return xasprintf(OUT_FOLDER "/%s-%d.pmt", command, (int)getpid());
}

const char *recorded_text(enum recorded recorded)
{
	switch (recorded) {
	case RECORDED_NO_PM: return "The program mapped no persistent memory";
	case RECORDED_STOPPED: return "pmend was stopped before the program ended";
	case RECORDED_FAILURE: return "The program under test failed";
	case RECORDED_NOTHING: return "Nothing was recorded";
	case RECORDED_WELL: break;
	}
	BUG("what was recorded well is judged");
}

/* May pmend say where the trace is? Not if a program reads the report on standard output: that
 * report has the trace's name in it, for its replays. */
static bool is_for_people(const struct reporting *r)
{
	return !r->quiet && !r->is_part && (r->output || strcmp(r->format, "text") == 0);
}

void trace_keep(const char *trace, const char *kept, enum recorded recorded, bool is_found,
		const struct reporting *reporting)
{
	if (recorded == RECORDED_WELL && !is_found)
		return;
	if (copy_file_to_out(trace, kept) < 0)
		warn("cannot keep the trace as %s: %s", kept, strerror(errno));
	else if (recorded == RECORDED_STOPPED)
		warn("pmend was stopped; the trace is kept as %s", kept);
	else if (recorded == RECORDED_FAILURE)
		warn("the trace of the program, which failed, is kept as %s", kept);
	else if (is_for_people(reporting))
		warn("the recording is kept as %s; replays read it", kept);
}
