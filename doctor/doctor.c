/* Lists all checks, in the order of the report: first what everything needs, then what makes pmend
 * faster, then what single commands use. */
#include "doctor/doctor.h"

#include <stddef.h>

#include "doctor/checks.h"

const struct doctor_check doctor_checks[] = {
	{ "valgrind", "recording", true, check_valgrind },
	{ "recorder", "recording", true, check_recorder },
	{ "temporary-files", "traces of check, crash and test; {pool}", true, check_temporary },
	{ "recording", "record, check, crash, test, explore", true, check_recording },
	{ "recovery", "crash, test --recover", true, check_recovery },
	{ "protection-keys", "recovery with threads", false, check_keys },
	{ "syscall-dispatch", "watching the system calls of recovery", false, check_dispatch },
	{ "memory", "the pools that recovery runs on", false, check_memory },
	{ "limits", "descriptors and processes", false, check_limits },
	{ "libclang", "fix, crash --strategy representative", false, check_libclang },
	{ "clang", "fix: what pointers may point to", false, check_clang },
	{ "z3", "explore", false, check_z3 },
	{ "decoder", "explore; recovery that is watched", false, check_decoder },
	{ "gdb", "crash --replay --gdb", false, check_gdb },
	{ "pmdk", "programs on PMDK", false, check_pmdk },
	{ 0 },
};

const char *doctor_state_name(enum doctor_state s)
{
	static const char *const names[] = {
		[DOCTOR_OK] = "ok", [DOCTOR_LIMITED] = "limited", [DOCTOR_MISSING] = "missing"
	};

	return names[s];
}
