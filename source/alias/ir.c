/* Turns LLVM's IR into constraints: initial values of variables, and one constraint per
 * instruction. Array indices are ignored, so all elements of an array are one location. */
#include <stdlib.h>

#include "source/alias/ir_internal.h"

/* ---- initial values of variables ---- */

static void constrain_initial(struct alias *a, uint32_t object, int64_t offset, LLVMValueRef v)
{
	LLVMTypeRef t = LLVMTypeOf(v);
	LLVMTypeKind kind = LLVMGetTypeKind(t);

	if (LLVMIsAConstantAggregateZero(v) || LLVMIsUndef(v) || LLVMIsAConstantDataSequential(v))
		return;
	if (kind == LLVMStructTypeKind)
		for (unsigned i = 0; i < LLVMCountStructElementTypes(t); i++)
			constrain_initial(a, object,
					  offset + (int64_t)LLVMOffsetOfElement(a->layout, t, i),
					  LLVMGetOperand(v, i));
	else if (kind == LLVMArrayTypeKind)
		for (unsigned i = 0; i < LLVMGetArrayLength(t); i++)
			constrain_initial(a, object, offset, LLVMGetOperand(v, i));
	else if (ir_node(a, v))
		solver_copy(a->solver, solver_location(a->solver, object, offset), ir_node(a, v));
}

/* ---- instructions ---- */

static void constrain_alloca(struct alias *a, const struct function *f, LLVMValueRef v)
{
	const char *name = ir_name(a, v);
	char *full = xasprintf("%s.%s", f->name, *name ? name : "?");
	uint32_t object = solver_object(a->solver, SOLVE_STACK, arena_text(&a->arena, full));

	free(full);
	map_set(&a->objects, (uint64_t)(uintptr_t)v, ir_number(object));
	solver_point(a->solver, ir_node(a, v), solver_location(a->solver, object, 0));
}

static void constrain_write(struct alias *a, LLVMValueRef v, LLVMValueRef pointer,
			    LLVMValueRef value)
{
	uint32_t to = ir_node(a, pointer);

	solver_store(a->solver, to, ir_node(a, value));
	site_add(a, v, true, NULL, &to, 1);
}

static void constrain(struct alias *a, const struct function *f, LLVMValueRef v)
{
	LLVMOpcode op = LLVMGetInstructionOpcode(v);

	switch (op) {
	case LLVMAlloca: constrain_alloca(a, f, v); break;
	case LLVMLoad:
		solver_load(a->solver, ir_node(a, v), ir_node(a, LLVMGetOperand(v, 0)));
		break;
	case LLVMStore: constrain_write(a, v, LLVMGetOperand(v, 1), LLVMGetOperand(v, 0)); break;
	case LLVMAtomicRMW:
		solver_load(a->solver, ir_node(a, v), ir_node(a, LLVMGetOperand(v, 0)));
		constrain_write(a, v, LLVMGetOperand(v, 0), LLVMGetOperand(v, 1));
		break;
	case LLVMAtomicCmpXchg:
		solver_load(a->solver, ir_node(a, v), ir_node(a, LLVMGetOperand(v, 0)));
		constrain_write(a, v, LLVMGetOperand(v, 0), LLVMGetOperand(v, 2));
		break;
	case LLVMVAArg:
		solver_load(a->solver, ir_node(a, v), ir_node(a, LLVMGetOperand(v, 0)));
		break;
	case LLVMCall:
	case LLVMInvoke: ir_constrain_call(a, f, v); break;
	case LLVMRet:
		if (LLVMGetNumOperands(v))
			solver_copy(a->solver, f->result, ir_node(a, LLVMGetOperand(v, 0)));
		break;
	default:
		if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMVoidTypeKind && ir_node(a, v))
			ir_constrain_expression(a, ir_node(a, v), v, op);
		break;
	}
}

void ir_constrain(struct alias *a, LLVMModuleRef m)
{
	a->layout = LLVMGetModuleDataLayout(m);
	for (LLVMValueRef v = LLVMGetFirstGlobal(m); v; v = LLVMGetNextGlobal(v))
		if (LLVMGetInitializer(v))
			constrain_initial(a, ir_known(&a->objects, v), 0, LLVMGetInitializer(v));
	for (LLVMValueRef v = LLVMGetFirstFunction(m); v; v = LLVMGetNextFunction(v)) {
		struct function f = a->functions.at[ir_known(&a->function_of_object,
							     ir_number(ir_known(&a->objects, v))) -
						    1];

		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(v); b;
		     b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i;
			     i = LLVMGetNextInstruction(i))
				constrain(a, &f, i);
	}
}
