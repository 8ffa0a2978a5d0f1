/* Protection keys. The register that says which keys are closed (PKRU) is each thread's own; the interrupted program's is in the XSAVE area of its signal frame. */
#include <cpuid.h>
#include <sys/mman.h>

#include "internal.h"

static uint32_t g_pkru_offset; /* in an XSAVE area of standard form */

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
	if (!(a >> 2 * key & 1)) { /* the kernel would open it in every signal handler of the program */
		CALL1(SYS_pkey_free, key);
		return -1;
	}
	return (int)key;
}

/* PKRU of the interrupted program. */
static uint32_t *frame_pkru(ucontext_t *uc)
{
	char *x = (char *)uc->uc_mcontext.fpregs;
	uint64_t *present = (uint64_t *)(x + 512);
	uint32_t *pkru = (uint32_t *)(x + g_pkru_offset);

	if (!(*present & 1u << 9))
		*pkru = 0; /* it has its initial value */
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
