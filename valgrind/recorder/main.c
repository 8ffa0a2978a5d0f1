/* pmend's recorder: a Valgrind tool that writes every operation on persistent memory to a trace
 * (include/pmtrace.h).
 *
 *	$ pmend record -- ./app && pmend show
 *	   12  T1  store   pool+0x40  8  0x2a   update (app.c:41)
 *	   13  T1  clwb    pool+0x40            update (app.c:42)
 *	   14  T1  sfence                       update (app.c:43)
 *
 * Its limits: those at the top of place/stack.c and kernel/syscalls.c; AVX-512 is hidden from the
 * program, because Valgrind cannot run it; threads run one at a time, so a trace is one
 * interleaving. */
#include "valgrind/common/arch.h"
#include "valgrind/common/debuginfo.h"
#include "valgrind/common/open_files.h"
#include "valgrind/recorder/blocks/instrument.h"
#include "valgrind/recorder/blocks/sync.h"
#include "valgrind/recorder/kernel/syscalls.h"
#include "valgrind/recorder/objects.h"
#include "valgrind/recorder/out/options.h"
#include "valgrind/recorder/out/out.h"
#include "valgrind/recorder/out/shared.h"
#include "valgrind/recorder/place/emit.h"
#include "valgrind/recorder/place/stack.h"
#include "valgrind/recorder/pm/pm.h"
#include "valgrind/recorder/requests.h"
#include "valgrind/recorder/schedule/points.h"
#include "valgrind/recorder/schedule/turns.h"

#include "pub_tool_clientstate.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcproc.h"
#include "pub_tool_machine.h"
#include "pub_tool_options.h"
#include "pub_tool_tooliface.h"
#include "pub_tool_xarray.h"

#define RECIPE_WORDS 64

static UInt g_child_stream;
static Bool g_is_open;

static const HChar *g_recipe[RECIPE_WORDS];
static UInt g_nrecipe;

static void recipe_add(const HChar *word)
{
	if (g_nrecipe < RECIPE_WORDS)
		g_recipe[g_nrecipe++] = word;
}

static Bool process_option(const HChar *arg)
{
	const HChar *glob, *touchable, *inode, *word;

	if VG_STR_CLO (arg, "--trace-file", clo_trace_file) {
	} else if VG_STR_CLO (arg, "--platform", clo_platform) {
	} else if VG_BOOL_CLO (arg, "--platform-open", clo_platform_open) {
	} else if VG_STR_CLO (arg, "--scratch-pool", clo_scratch_pool) {
	} else if VG_INT_CLO (arg, "--keep-fd", clo_keep_fd) {
	} else if VG_STR_CLO (arg, "--keep-inode", inode) {
		clo_keep_inode = VG_(strtoull10)(inode, NULL);
	} else if VG_STR_CLO (arg, "--memory-file", clo_memory_file) {
	} else if VG_STR_CLO (arg, "--memory-inode", inode) {
		clo_memory_inode = VG_(strtoull10)(inode, NULL);
	} else if VG_STR_CLO (arg, "--recipe", word) {
		recipe_add(word);
	} else if VG_STR_CLO (arg, "--pm", glob) {
		pm_glob(glob);
	} else if VG_STR_CLO (arg, "--files", glob) {
		followed_add(glob);
	} else if VG_STR_CLO (arg, "--files-except", glob) {
		followed_except(glob);
	} else if VG_STR_CLO (arg, "--scratch-dir", clo_scratch_dir) {
	} else if VG_BOOL_CLO (arg, "--loads", clo_loads) {
	} else if VG_BOOL_CLO (arg, "--threads", clo_threads) {
		clo_loads |= clo_threads;
	} else if VG_STR_CLO (arg, "--lock-call", word) {
		sync_lock_call(word);
	} else if VG_STR_CLO (arg, "--unlock-call", word) {
		sync_unlock_call(word);
	} else if VG_STR_CLO (arg, "--schedule", word) {
		clo_schedule = True;
		clo_schedule_seed = VG_(strtoull10)(word, NULL);
	} else if VG_STR_CLO (arg, "--schedule-span", word) {
		clo_schedule_span = VG_(strtoull10)(word, NULL);
	} else if VG_INT_CLO (arg, "--schedule-changes", clo_schedule_changes) {
	} else if VG_STR_CLO (arg, "--hold-store", word) {
		return points_hold_store(word);
	} else if VG_STR_CLO (arg, "--hold-load", word) {
		return points_hold_load(word);
	} else if VG_INT_CLO (arg, "--hold-skip", clo_hold_skip) {
	} else if VG_BOOL_CLO (arg, "--instructions", clo_instructions) {
	} else if VG_BOOL_CLO (arg, "--check-stacks", clo_check_stacks) {
		g_unwinds = clo_check_stacks;
	} else if VG_BOOL_CLO (arg, "--stop-at-old", clo_stop_at_old) {
	} else if VG_STR_CLO (arg, "--may-touch", touchable) {
		old_may_touch(touchable);
	} else if VG_BOOL_CLO (arg, "--follow", clo_follow) {
	} else if VG_BOOL_CLO (arg, "--old-bytes", clo_old_bytes) {
	} else {
		return open_files_option(arg);
	}
	return True;
}

static void print_usage(void)
{
	VG_(printf)
	("    --trace-file=FILE         where the trace goes (required)\n"
	 "    --pm=GLOB                 only files that match are PM; may be repeated\n"
	 "    --platform=NAME           written into the trace [x86-adr]\n"
	 "    --platform-open=no|yes    written into the trace: nobody asked for this platform [no]\n"
	 "    --scratch-pool=PATH       written into the trace: this path is {pool} for the user\n"
	 "    --scratch-dir=PATH        written into the trace: this path is {dir} for the user\n"
	 "    --files=DIR               follow all files below DIR, a real path; may be repeated\n"
	 "    --files-except=GLOB       but not these; may be repeated\n"
	 "    --recipe=WORD             written into the trace: how the server was served; may be repeated\n"
	 "    --keep-fd=N               a socket that gets a descriptor of each PM file\n"
	 "    --keep-inode=N            the inode of that socket\n"
	 "    --memory-file=FILE        memory that all recorded processes share\n"
	 "    --memory-inode=N          the inode of that memory\n"
	 "    --open-files=N            the soft limit of open files that the program sees at first\n"
	 "    --loads=no|yes            record loads from PM too [no]\n"
	 "    --threads=no|yes          record loads, locks and what else orders threads [no]\n"
	 "    --lock-call=FUNCTION      takes the lock at the address that is its first argument; may be repeated\n"
	 "    --unlock-call=FUNCTION    gives it back; may be repeated\n"
	 "    --schedule=SEED           choose the order of threads by SEED; 0: each runs until it waits\n"
	 "    --schedule-changes=N      change points: there the running thread gets the lowest priority [0]\n"
	 "    --schedule-span=N         drawn from so many points\n"
	 "    --hold-store=OFFSET:PATH  hold the thread that stores there (hexadecimal offset in the file PATH) ...\n"
	 "    --hold-load=OFFSET:PATH   ... until another one has loaded the same bytes there\n"
	 "    --hold-skip=N             but not the first N times [0]\n"
	 "    --instructions=no|yes     count the instructions of the program [no]\n"
	 "    --check-stacks=no|yes     compare each call stack with Valgrind's unwinder [no]\n"
	 "    --stop-at-old=no|yes      end the program when it maps as PM, or is about to change, a file that was there before [no]\n"
	 "    --may-touch=PATH          but not when it changes this one; may be repeated\n"
	 "    --follow=no|yes           whether --trace-children follows exec [yes]\n"
	 "    --old-bytes=no|yes        fill devices, and what allocators hand out again, with old bytes [no]\n");
}

static void print_debug_usage(void)
{
	VG_(printf)("    (none)\n");
}

static void meta(const HChar *key, const HChar *value)
{
	HChar *s = VG_(malloc)("pmend.meta", VG_(strlen)(key) + VG_(strlen)(value) + 2);

	VG_(sprintf)(s, "%s=%s", key, value);
	emit_event(VG_INVALID_THREADID, PMT_META, 0, NULL, s, VG_(strlen)(s));
	VG_(free)(s);
}

static void describe_recording(void)
{
	ULong args[2] = { VG_(getpid)(), VG_(getppid)() };
	const HChar *force = VG_(getenv)("PMEM_IS_PMEM_FORCE");
	HChar key[32];

	emit_event(VG_INVALID_THREADID, PMT_PROCESS, 0, args, NULL, 0);
	arch_describe(meta);
	VG_(sprintf)(key, "%lu", (UWord)VKI_PAGE_SIZE);
	meta("page", key);
	meta("platform", clo_platform);
	if (clo_platform_open)
		meta("platform_open", "yes");
	meta("loads", clo_loads ? "yes" : "no");
	if (clo_threads)
		meta("threads", "yes");
	if (clo_schedule) {
		VG_(sprintf)(key, "%llu", clo_schedule_seed);
		meta("schedule", key);
	}
	if (clo_old_bytes)
		meta("old_bytes", "yes");
	if (clo_scratch_pool)
		meta("scratch_pool", clo_scratch_pool);
	if (clo_scratch_dir)
		meta("scratch_dir", clo_scratch_dir);
	for (UInt i = 0; followed_folder(i); i++)
		meta("files", followed_folder(i));
	for (UInt i = 0; followed_exception(i); i++)
		meta("files_except", followed_exception(i));
	for (UInt i = 0; i < g_nrecipe; i++) {
		VG_(sprintf)(key, "recipe.%u", i);
		meta(key, g_recipe[i]);
	}
	/* says whether libpmem was told to flush, or to sync */
	if (force)
		meta("pmem_force", force);
	if (VG_(get_startup_wd)() != NULL)
		meta("cwd", VG_(get_startup_wd)());
	meta("argv.0", VG_(args_the_exename));
	for (Word i = 0; i < VG_(sizeXA)(VG_(args_for_client)); i++) {
		VG_(sprintf)(key, "argv.%ld", i + 1);
		meta(key, *(HChar **)VG_(indexXA)(VG_(args_for_client), i));
	}
}

static void post_options(void)
{
	if (clo_trace_file == NULL) {
		VG_(fmsg)("pmend: --trace-file=FILE is missing\n");
		VG_(exit)(1);
	}
	if (!out_open())
		VG_(exit)(1);
	g_is_open = True;
	made_begin();
	/* a block can be left behind any instruction then, so all registers must be up to date */
	if (clo_schedule)
		VG_(clo_vex_control).iropt_register_updates_default = VexRegUpdAllregsAtEachInsn;
	describe_recording();
}

static void finish(Int status)
{
	ULong args[1] = { g_exit_status };
	HChar number[24];

	(void)status; /* always 0 here */
	if (!g_is_open)
		return;
	if (clo_instructions) {
		VG_(sprintf)(number, "%llu", g_ninstructions);
		meta("instructions", number);
	}
	if (clo_schedule) {
		VG_(sprintf)(number, "%llu", points_count());
		meta("schedule_points", number);
	}
	if (g_exit_status >= 0)
		emit_event(VG_INVALID_THREADID, PMT_EXIT, 0, args, NULL, 0);
	out_close();
}

/* ---- callbacks from Valgrind ---- */

static void on_start_client_code(ThreadId tid, ULong blocks)
{
	static Bool g_has_begun;

	const Bool is_first = !g_has_begun;

	if (is_first)
		arch_begin(VG_(get_SP)(tid));
	g_has_begun = True;
	stack_run(tid);
	if (is_first)
		followed_begin(tid);
	if (!clo_schedule)
		return;
	if (is_first) {
		turns_begin(tid);
		points_begin();
	}
	turns_run(tid, blocks);
	points_run();
}

static void on_thread_create(ThreadId parent, ThreadId child)
{
	ULong args[1];

	g_nthreads++;
	stack_thread_begin(child);
	turns_created(child);
	args[0] = stack_thread_number(child);
	if (parent != VG_INVALID_THREADID)
		emit_event(parent, PMT_THREAD_BEGIN, 0, args, NULL, 0);
}

static void on_thread_exit(ThreadId tid)
{
	g_nthreads--;
	points_ends(tid);
	turns_ends(tid);
	emit_event(tid, PMT_THREAD_END, 0, NULL, NULL, 0);
	stack_thread_end(tid);
}

static void on_signal(ThreadId tid, Int number, Bool on_altstack)
{
	ULong args[1] = { number };

	emit_event(tid, PMT_SIGNAL, 0, args, NULL, 0);
	stack_signal(tid, on_altstack);
}

static void on_signal_return(ThreadId tid, Int number)
{
	stack_signal_return(tid);
}

static void on_mem_write(CorePart part, ThreadId tid, Addr a, SizeT len)
{
	if (!shared_has_files())
		return;
	if (part == Vg_CoreSysCall)
		pm_written(tid, a, syscalls_written(tid, a, len));
	else if (part == Vg_CoreSignal)
		pm_written(tid, a, len);
}

static void on_startup_mapping(Addr a, SizeT len, Bool r, Bool w, Bool x, ULong handle)
{
	objects_mapped(a, len, x);
}

static void on_mmap(Addr a, SizeT len, Bool r, Bool w, Bool x, ULong handle)
{
	objects_mapped(a, len, x);
}

static void on_munmap(Addr a, SizeT len)
{
	objects_unmapped(a, len);
}

static void before_fork(ThreadId tid)
{
	ULong args[1];

	turns_before_fork();
	made_before_fork();
	g_child_stream = out_new_stream();
	args[0] = g_child_stream;
	emit_event(tid, PMT_FORK, 0, args, NULL, 0);
}

static void in_parent(ThreadId tid)
{
	turns_in_parent();
}

static void in_child(ThreadId tid)
{
	ULong args[2] = { VG_(getpid)(), VG_(getppid)() };

	turns_in_child(tid);
	points_in_child();
	out_fork_child(g_child_stream);
	g_ninstructions = 0;
	g_nthreads = 1;
	emit_event(tid, PMT_PROCESS, 0, args, NULL, 0);
}

static void pre_options(void)
{
	VG_(details_name)("pmend");
	VG_(details_version)(NULL);
	VG_(details_description)("a recorder of persistent-memory operations");
	VG_(details_copyright_author)("Copyright (C) 2026, and GNU GPL'd, by the pmend authors.");
	VG_(details_bug_reports_to)("the pmend project");
	VG_(details_avg_translation_sizeB)(600);

	VG_(basic_tool_funcs)(post_options, instrument, finish);
	VG_(needs_command_line_options)(process_option, print_usage, print_debug_usage);
	VG_(needs_client_requests)(requests_handle);
	VG_(needs_syscall_wrapper)(syscalls_before, syscalls_after);
	VG_(track_start_client_code)(on_start_client_code);
	VG_(track_pre_thread_ll_create)(on_thread_create);
	VG_(track_pre_thread_ll_exit)(on_thread_exit);
	VG_(track_pre_deliver_signal)(on_signal);
	VG_(track_post_deliver_signal)(on_signal_return);
	VG_(track_post_mem_write)(on_mem_write);
	VG_(track_new_mem_startup)(on_startup_mapping);
	VG_(track_new_mem_mmap)(on_mmap);
	VG_(track_die_mem_munmap)(on_munmap);
	VG_(atfork)(before_fork, in_parent, in_child);

	/* otherwise a call need not end its block, and would be missed */
	VG_(clo_vex_control).guest_chase = False;
}

VG_DETERMINE_INTERFACE_VERSION(pre_options)
