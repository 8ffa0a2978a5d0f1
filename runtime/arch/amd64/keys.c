/* Opens and closes pages by protection keys. Each thread has a register, PKRU, which says which
 * keys are closed. The PKRU of the interrupted program is in the XSAVE area of its signal frame. */
#include <cpuid.h>
#include <sys/mman.h>

#include "internal.h"

static uint32_t g_pkru_offset; /* offset of PKRU in an XSAVE area of standard form */

static uint32_t rdpkru(void)
{
	uint32_t a, d;

	__asm__ volatile("rdpkru" : "=a"(a), "=d"(d) : "c"(0));
	return a;
}

static void wrpkru(uint32_t a)
{
	__asm__ volatile("wrpkru" : : "a"(a), "c"(0), "d"(0) : "memory");
}

int keys_init(void)
{
	uint32_t a, b, c, d;
	long key;

	if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(c & 1u << 4)) /* OSPKE */
		return -1;
	if (!__get_cpuid_count(0xd, 9, &a, &b, &c, &d) || a == 0)
		return -1;
	g_pkru_offset = b;
	a = rdpkru();
	key = CALL2(SYS_pkey_alloc, 0, PKEY_DISABLE_ACCESS);
	if (IS_ERROR(key))
		return -1;
	/* this key would be open in every signal handler of the program */
	if (!(a >> 2 * key & 1)) {
		CALL1(SYS_pkey_free, key);
		return -1;
	}
	return (int)key;
}

/* Finds the PKRU of the interrupted program in its signal frame. */
static uint32_t *frame_pkru(ucontext_t *uc)
{
	char *x = (char *)uc->uc_mcontext.fpregs;
	uint64_t *present = (uint64_t *)(x + 512);
	uint32_t *pkru = (uint32_t *)(x + g_pkru_offset);

	if (!(*present & 1u << 9))
		*pkru = 0; /* PKRU had its initial value, so the frame does not contain it */
	*present |= 1u << 9;
	return pkru;
}

void keys_open(int key)
{
	wrpkru(rdpkru() & ~(3u << 2 * key));
}

void keys_close(int key)
{
	wrpkru(rdpkru() | 1u << 2 * key);
}

void keys_open_frame(int key, ucontext_t *uc)
{
	*frame_pkru(uc) &= ~(3u << 2 * key);
}

void keys_close_frame(int key, ucontext_t *uc)
{
	*frame_pkru(uc) |= 1u << 2 * key;
}

bool keys_is_closed_frame(int key, ucontext_t *uc)
{
	return *frame_pkru(uc) >> 2 * key & 1;
}

/* ---- does the kernel keep a key closed? ---- */

#define SA_HAS_RESTORER 0x04000000ul
#define MOST_FAULTS 4u

static volatile struct {
	int key;
	volatile uint8_t *page;
	bool is_ok, closes;
	uint32_t nfaults;
} g_trial;

static bool is_closed(int key)
{
	return rdpkru() >> 2 * key & 1;
}

/* Handles the signals of the test. On a fault, it opens the key for the interrupted code. On a
 * signal that was sent, it closes the key for the interrupted code, or opens the key only for
 * itself, which must end with the handler. */
static void on_trial(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	if (!is_closed(g_trial.key))
		g_trial.is_ok = false;
	if (si->si_code > 0) {
		if (si->si_code != SEGV_PKUERR || (int)si->si_pkey != g_trial.key ||
		    !keys_is_closed_frame(g_trial.key, uc))
			g_trial.is_ok = false;
		keys_open_frame(g_trial.key, uc);
		if (++g_trial.nfaults >= MOST_FAULTS)
			CALL4(SYS_pkey_mprotect, g_trial.page, PAGE, PROT_READ, 0);
		return;
	}
	keys_open(g_trial.key);
	if (g_trial.closes)
		keys_close_frame(g_trial.key, uc);
}

static void send_trial(bool closes)
{
	g_trial.closes = closes;
	CALL3(SYS_tgkill, CALL0(SYS_getpid), CALL0(SYS_gettid), SIGSEGV);
	if (!is_closed(g_trial.key))
		g_trial.is_ok = false;
}

static void try_key(void)
{
	const struct action trial = { .handler = on_trial,
				      .flags = SA_SIGINFO | SA_NODEFER | SA_HAS_RESTORER |
					       SA_ONSTACK,
				      .restorer = rt_restore };
	const uint64_t mask = BIT(SIGSEGV);
	uint64_t before;
	struct action old;

	CALL4(SYS_rt_sigaction, SIGSEGV, &trial, &old, 8);
	CALL4(SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, &before, 8);
	g_trial.is_ok = true;
	send_trial(false);
	(void)*g_trial.page;
	if (is_closed(g_trial.key) || g_trial.nfaults != 1)
		g_trial.is_ok = false;
	send_trial(true);
	(void)*g_trial.page;
	if (g_trial.nfaults != 2)
		g_trial.is_ok = false;
	keys_close(g_trial.key);
	CALL4(SYS_rt_sigprocmask, SIG_SETMASK, &before, 0, 8);
	CALL4(SYS_rt_sigaction, SIGSEGV, &old, 0, 8);
}

bool keys_work(void)
{
	long page;

	g_trial.key = keys_init();
	if (g_trial.key < 0)
		return false;
	page = CALL6(SYS_mmap, 0, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (!IS_ERROR(page) && CALL4(SYS_pkey_mprotect, page, PAGE, PROT_READ, g_trial.key) == 0) {
		g_trial.page = (volatile uint8_t *)page;
		try_key();
	}
	if (!IS_ERROR(page))
		CALL2(SYS_munmap, page, PAGE);
	CALL1(SYS_pkey_free, g_trial.key);
	return g_trial.is_ok;
}
