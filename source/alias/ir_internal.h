/* What the files share that turn LLVM's IR into constraints. */
#ifndef SOURCE_ALIAS_IR_INTERNAL_H
#define SOURCE_ALIAS_IR_INTERNAL_H

#include "source/alias/internal.h"

/* Turns a number into the value of a map; ir_known() turns it back. A map holds no NULL, so 0 means
 * "not there". */
static inline void *ir_number(uint32_t n)
{
	return (void *)(uintptr_t)n;
}

static inline uint32_t ir_known(const struct map *m, const void *key)
{
	return (uint32_t)(uintptr_t)map_get(m, (uint64_t)(uintptr_t)key);
}

/* ir_values.c: gives the name of a global value */
const char *ir_name(struct alias *a, LLVMValueRef v);
/* Finds the first symbol of this name. There may be several, because several programs of one
 * database may each have one. */
const struct symbol *symbol_find(const struct alias *a, const char *name);
/* Asks whether s still points to a symbol of this name, and not behind the last of them. */
bool symbol_is(const struct alias *a, const struct symbol *s, const char *name);
/* Adds the constraints of an operator's result. */
void ir_constrain_expression(struct alias *a, uint32_t node, LLVMValueRef v, LLVMOpcode op);

/* ir_sites.c: where an instruction is in the source. */
/* Makes a name such as "malloc at app.c:41" from `what` and the place of the instruction. */
const char *site_name(struct alias *a, LLVMValueRef v, const char *what);
void site_add(struct alias *a, LLVMValueRef v, bool is_store, const char *callee,
	      const uint32_t *pointers, size_t n);

/* ir_calls.c: adds the constraints of a call in the function f */
void ir_constrain_call(struct alias *a, const struct function *f, LLVMValueRef v);

#endif
