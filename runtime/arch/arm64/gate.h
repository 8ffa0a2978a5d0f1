/* Assembly and tables that only this architecture's files use. */
#ifndef RUNTIME_ARCH_ARM64_GATE_H
#define RUNTIME_ARCH_ARM64_GATE_H

#include <stdbool.h>
#include <stdint.h>

#define SVC 0xd4000001u /* svc #0 */
/* mov x8, #139: with the svc behind it, unwinders know a signal frame by it */
#define MOV_X8_SIGRETURN 0xd2801168u

/* In assembly: a fault between two labels is expected, and goes on at the third (gate_catch()). */
#define GATE_EXPECT(begin, end, to) \
	".pushsection rt_expected, \"a\"\n" \
	".p2align 2\n" \
	"	.long " begin " - ., " end " - ., " to " - .\n" \
	".popsection\n"

/* A caught call is `udf #i`, and slot i does it in its stead: slots.c. */
struct slot {
	uint32_t *code;
	uint64_t back; /* just behind the call */
};

#define MAX_SLOTS 8192u
extern struct slot g_slots[MAX_SLOTS];
extern uint32_t g_nslots; /* 0 is none */

/* Between these two, slots may be made; false: the memory cannot be written. */
bool slots_open(void);
void slots_close(void);
/* For the call at `site`: its number; 0: there is no memory within a branch of it, or there are too
 * many. */
uint32_t slots_make(uint64_t site);
bool slots_are_at(uint64_t addr);

/* How calls are found and replaced: replace.c. */
struct patch_table;
extern const struct patch_table calls_table;

/* Is the word at `at`, which looks like a call, a literal? [start, end) is the code around it:
 * text.c. This is slow, and needless where no instruction names such a word. */
bool text_has_named_call(const uint32_t *start, const uint32_t *end);
bool text_is_literal(const uint32_t *start, const uint32_t *end, const uint32_t *at);

#endif
