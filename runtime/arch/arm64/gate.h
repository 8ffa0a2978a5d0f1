/* What only the files of arm64/ share to build the gate, which catches the program's system calls
 * (runtime/arch.h): instruction words, the table of expected faults, and the table of slots. A slot
 * makes one caught call for the program. */
#ifndef RUNTIME_ARCH_ARM64_GATE_H
#define RUNTIME_ARCH_ARM64_GATE_H

#include <stdbool.h>
#include <stdint.h>

#define SVC 0xd4000001u /* svc #0 */
/* mov x8, #139: with the svc behind it, unwinders recognise a signal frame by it */
#define MOV_X8_SIGRETURN 0xd2801168u

/* For use in assembly: a fault between the first two labels is expected; execution continues at the
 * third (gate_catch()). */
#define GATE_EXPECT(begin, end, to) \
	".pushsection rt_expected, \"a\"\n" \
	".p2align 2\n" \
	"	.long " begin " - ., " end " - ., " to " - .\n" \
	".popsection\n"

/* A caught call is `udf #i`; slot i makes the call for the program (slots.c). */
struct slot {
	uint32_t *code;
	uint64_t back; /* the address behind the call */
};

#define MAX_SLOTS 8192u
extern struct slot g_slots[MAX_SLOTS];
extern uint32_t g_nslots; /* slot 0 is not used */

/* slots_open() makes the memory of slots writable, slots_close() executable again; slots are made
 * between these two calls. False: the memory cannot be made writable. */
bool slots_open(void);
void slots_close(void);
/* Makes a slot for the call at `site` and returns its number. 0: no memory is within reach of a
 * branch, or there are too many slots. */
uint32_t slots_make(uint64_t site);
bool slots_are_at(uint64_t addr);

/* Finding and replacing calls: replace.c. */
struct patch_table;
extern const struct patch_table calls_table;

/* text_is_literal() asks whether the word at `at`, which looks like a call, is data. [start, end)
 * is the code around it. That is slow, and needed only if some instruction names a word that looks
 * like a call: text_has_named_call(). In text.c. */
bool text_has_named_call(const uint32_t *start, const uint32_t *end);
bool text_is_literal(const uint32_t *start, const uint32_t *end, const uint32_t *at);

#endif
