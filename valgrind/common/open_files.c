/* Lets the program set its limit of open files. Valgrind takes the soft limit that it finds at its
 * start for the hard one, and refuses to set any other hard limit. So pmend raises the soft limit
 * before it starts Valgrind; here, the program sees its own one until it sets another, and Valgrind
 * sees a hard limit that it does not refuse. Limit: a structure in read-only memory is left as it
 * is, and programs that are executed begin with the first limit again. */
#include "valgrind/common/open_files.h"

#include "valgrind/common/sys.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcbase.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_options.h"

/* The hard limit that Valgrind itself keeps. Valgrind's headers for tools do not declare it. */
extern Int VG_(fd_hard_limit);

static ULong clo_open_files; /* 0: nobody says */

/* What the program sees. */
static struct vki_rlimit g_seen;

/* What it asks for, while Valgrind looks at something else. */
static struct vki_rlimit g_asked;
static struct vki_rlimit *g_changed; /* NULL: Valgrind looks at what the program asks for */

Bool open_files_option(const HChar *arg)
{
	const HChar *n;

	if VG_STR_CLO (arg, "--open-files", n) {
		clo_open_files = VG_(strtoull10)(n, NULL);
		return True;
	}
	return False;
}

static void begin(void)
{
	if (g_seen.rlim_max != 0)
		return;
	g_seen.rlim_max = VG_(fd_hard_limit);
	g_seen.rlim_cur = clo_open_files != 0 && clo_open_files < g_seen.rlim_max ? clo_open_files
										  : g_seen.rlim_max;
}

/* Finds the limits that a call points to: gives the one that the call wants to set; NULL: it sets
 * none. */
static struct vki_rlimit *to_set(UInt number, const UWord *args)
{
	if (number == __NR_setrlimit && args[0] == VKI_RLIMIT_NOFILE)
		return (struct vki_rlimit *)args[1];
	if (number == __NR_prlimit64 && args[1] == VKI_RLIMIT_NOFILE &&
	    (args[0] == 0 || args[0] == (UWord)VG_(getpid)()))
		return (struct vki_rlimit *)args[2];
	return NULL;
}

static struct vki_rlimit *to_get(UInt number, const UWord *args)
{
	if (number == __NR_getrlimit && args[0] == VKI_RLIMIT_NOFILE)
		return (struct vki_rlimit *)args[1];
	if (number == __NR_prlimit64 && args[1] == VKI_RLIMIT_NOFILE &&
	    (args[0] == 0 || args[0] == (UWord)VG_(getpid)()))
		return (struct vki_rlimit *)args[3];
	return NULL;
}

/* Asks whether the kernel would allow these limits to a program that may not raise its hard
 * limit. */
static Bool is_allowed(const struct vki_rlimit *l)
{
	return l->rlim_cur <= l->rlim_max && l->rlim_max <= g_seen.rlim_max;
}

void open_files_before(UInt number, const UWord *args)
{
	struct vki_rlimit *new = to_set(number, args);

	g_changed = NULL;
	if (new == NULL ||
	    !VG_(am_is_valid_for_client)((Addr) new, sizeof *new, VKI_PROT_READ | VKI_PROT_WRITE))
		return;
	begin();
	if (!is_allowed(new))
		return;
	g_asked = *new;
	g_changed = new;
	new->rlim_max = VG_(fd_hard_limit);
}

void open_files_after(UInt number, const UWord *args, SysRes result)
{
	struct vki_rlimit *old = to_get(number, args), *changed = g_changed, before;

	begin();
	before = g_seen;
	g_changed = NULL;
	if (changed != NULL)
		*changed = g_asked;
	if (sr_isError(result))
		return;
	if (changed != NULL)
		g_seen = g_asked;
	if (old != NULL)
		*old = before;
}
