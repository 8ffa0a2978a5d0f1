/* pmend's tracer: a Valgrind tool that runs a program once on a concrete input. Beside each value
 * it keeps the expression over input bytes that computes it, and it writes the conditions of the
 * path that the program took (include/pmpath.h):
 *
 *	$ valgrind --tool=pmend-trace --path-file=run.pmp --sym-file=0:16:packet ./server packet
 *
 * Limits: floating point and a few other operations make values concrete (the file counts them);
 * forked processes are not followed; an address that depends on the input becomes concrete, except
 * for tables (shadow/table.c). */
#include "valgrind/common/arch.h"
#include "valgrind/common/open_files.h"
#include "valgrind/tracer/blocks/instrument.h"
#include "valgrind/tracer/path/path.h"
#include "valgrind/tracer/sources.h"
#include "valgrind/tracer/token.h"
#include "valgrind/tracer/value/memory.h"
#include "valgrind/tracer/value/options.h"
#include "valgrind/tracer/value/registers.h"

#include "pub_tool_options.h"
#include "pub_tool_machine.h"
#include "valgrind.h"
#define PMEND_REQUESTS_ONLY
#include "pmend.h"
#include "pub_tool_vkiscnums.h"
#include "pub_tool_clientstate.h"
#include "pub_tool_libcproc.h"

static Int g_exit_status = -1;

static Bool process_option(const HChar *arg)
{
	if VG_STR_CLO (arg, "--path-file", clo_path_file) {
	} else if VG_BOOL_CLO (arg, "--check", clo_check) {
	} else {
		return sources_option(arg) || open_files_option(arg);
	}
	return True;
}

static void print_usage(void)
{
	VG_(printf)
	("    --path-file=FILE          where the path goes (required)\n"
	 "    --open-files=N            the soft limit of open files that the program sees at first\n"
	 "    --sym-file=INDEX:LEN:PATH symbolic input; also --sym-arg, --sym-env, --sym-socket\n");
}

static void print_debug_usage(void)
{
	VG_(printf)("    --check=no|yes            compare each value with the machine's [no]\n");
}

static void *pool_alloc(size_t len)
{
	return VG_(malloc)("sym.expr", len);
}

static void pool_free(void *p)
{
	VG_(free)(p);
}

static void post_options(void)
{
	if (clo_path_file == NULL || !path_open(clo_path_file)) {
		VG_(fmsg)("pmend: --path-file=FILE is missing, or cannot be written\n");
		VG_(exit)(1);
	}
	g_pool = expr_pool_new((struct expr_memory){ pool_alloc, pool_free });
	reg_switch(1);
}

static void finish(Int status)
{
	(void)status; /* Valgrind always passes 0 */
	path_close(g_exit_status);
}

/* ---- callbacks from Valgrind ---- */

static void on_start_client_code(ThreadId tid, ULong blocks)
{
	static Bool g_is_started;

	reg_switch(tid);
	if (!g_is_started)
		sources_startup(tid);
	g_is_started = True;
}

static void on_thread_exit(ThreadId tid)
{
	reg_forget(tid, 0, arch_guest_bytes);
}

static void on_mem_write(CorePart part, ThreadId tid, Addr a, SizeT len)
{
	mem_forget(a, len);
}

static void on_reg_write(CorePart part, ThreadId tid, PtrdiffT offset, SizeT len)
{
	reg_forget(tid, offset, len);
}

static void on_request_return(ThreadId tid, PtrdiffT offset, SizeT len, Addr f)
{
	reg_forget(tid, offset, len);
}

static void on_mmap(Addr a, SizeT len, Bool r, Bool w, Bool x, ULong handle)
{
	mem_forget(a, len);
}

static void on_munmap(Addr a, SizeT len)
{
	mem_forget(a, len);
}

static void syscall_before(ThreadId tid, UInt number, UWord *args, UInt nargs)
{
	open_files_before(number, args);
	if (number == __NR_exit_group)
		g_exit_status = args[0] & 0xff;
}

static void syscall_after(ThreadId tid, UInt number, UWord *args, UInt nargs, SysRes result)
{
	open_files_after(number, args, result);
	sources_after(tid, number, args, nargs, result);
}

static Bool on_request(ThreadId tid, UWord *args, UWord *ret)
{
	static ULong g_symbolic_bytes;

	if (args[0] == PMP_REQ_COMPARED) {
		token_compared(tid, args[1], args[2], args[3]);
		*ret = 0;
		return True;
	}
	if (args[0] == PMP_REQ_WORD) {
		token_measured(args[1], args[2], args[3], args[4]);
		*ret = 0;
		return True;
	}
	if (!VG_IS_TOOL_USERREQ('P', 'M', args[0]) && !VG_IS_TOOL_USERREQ('P', 'C', args[0]))
		return False;
	*ret = 0; /* annotations of pmend and pmemcheck compute nothing */
	if (args[0] == PMEND_REQ_SYMBOLIC) {
		*ret = 1 + g_symbolic_bytes;
		g_symbolic_bytes += args[1];
	}
	return True;
}

static void in_child(ThreadId tid)
{
	path_fork_child();
}

static void pre_options(void)
{
	VG_(details_name)("pmend-trace");
	VG_(details_version)(NULL);
	VG_(details_description)("a tracer of the conditions that a path depends on");
	VG_(details_copyright_author)("Copyright (C) 2026, and GNU GPL'd, by the pmend authors.");
	VG_(details_bug_reports_to)("the pmend project");
	VG_(details_avg_translation_sizeB)(700);

	VG_(basic_tool_funcs)(post_options, instrument, finish);
	VG_(needs_command_line_options)(process_option, print_usage, print_debug_usage);
	VG_(needs_client_requests)(on_request);
	VG_(needs_syscall_wrapper)(syscall_before, syscall_after);
	VG_(track_start_client_code)(on_start_client_code);
	VG_(track_pre_thread_ll_exit)(on_thread_exit);
	VG_(track_post_mem_write)(on_mem_write);
	VG_(track_post_reg_write)(on_reg_write);
	VG_(track_post_reg_write_clientcall_return)(on_request_return);
	VG_(track_new_mem_mmap)(on_mmap);
	VG_(track_die_mem_munmap)(on_munmap);
	VG_(atfork)(NULL, NULL, in_child);

	/* a block is one run of instructions, so its first address identifies it */
	VG_(clo_vex_control).guest_chase = False;
	VG_(clo_vex_control).iropt_unroll_thresh = 0; /* each turn of a loop is a block, too */
}

VG_DETERMINE_INTERFACE_VERSION(pre_options)
