/* Says what a trace must tell about an arm64 machine, and shows the program what Valgrind hides.
 * Valgrind removes dcpop and dcpodp from the auxiliary vector, so libraries would flush only to the
 * point of coherency; both are put back if the processor has them. */
#include "valgrind/common/arch.h"

#include "pub_tool_libcbase.h"
#include "pub_tool_libcfile.h"
#include "pub_tool_libcprint.h"
#include "pub_tool_vki.h"

const Bool arch_is_weak = True;

enum {
	AUX_END = 0,
	AUX_IGNORE = 1, /* Valgrind turns entries that it does not know into this */
	AUX_HWCAP = 16,
	AUX_HWCAP2 = 26,
};
#define HWCAP_DCPOP (1ul << 16)
#define HWCAP_USCAT (1ul << 25) /* LSE2 */
#define HWCAP2_DCPODP (1ul << 0)

struct aux {
	UWord type, value;
};

/* Gives the value that the kernel put into Valgrind's auxiliary vector. */
static UWord kernel_aux(UWord type)
{
	SysRes r = VG_(open)("/proc/self/auxv", VKI_O_RDONLY, 0);
	UWord value = 0;
	struct aux a;

	if (sr_isError(r))
		return 0;
	while (VG_(read)(sr_Res(r), &a, sizeof a) == (Int)sizeof a && a.type != AUX_END)
		if (a.type == type)
			value = a.value;
	VG_(close)(sr_Res(r));
	return value;
}

void arch_describe(void (*tell)(const HChar *key, const HChar *value))
{
	HChar number[24];
	ULong ctr;

	__asm__("mrs %0, ctr_el0" : "=r"(ctr));
	/* DminLine: log2 of the number of words */
	VG_(sprintf)(number, "%u", 4u << (ctr >> 16 & 15));
	tell("isa", "arm64");
	tell("lse2", kernel_aux(AUX_HWCAP) & HWCAP_USCAT ? "1" : "0");
	tell("line", number);
}

/* Puts dcpop and dcpodp back into the program's auxiliary vector. At the stack pointer are argc,
 * the arguments, NULL, the environment, NULL, the auxiliary vector. */
void arch_begin(Addr sp)
{
	UWord *word = (UWord *)sp + 1 + *(const UWord *)sp + 1;
	struct aux *a, *second = NULL;

	while (*word++ != 0)
		;
	for (a = (struct aux *)word; a->type != AUX_END; a++) {
		if (a->type == AUX_HWCAP)
			a->value |= kernel_aux(AUX_HWCAP) & HWCAP_DCPOP;
		if (a->type == AUX_HWCAP2 || (a->type == AUX_IGNORE && second == NULL))
			second = a;
	}
	if (second != NULL)
		*second = (struct aux){ AUX_HWCAP2,
					(second->type == AUX_HWCAP2 ? second->value : 0) |
						(kernel_aux(AUX_HWCAP2) & HWCAP2_DCPODP) };
}
