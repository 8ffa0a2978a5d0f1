/* Makes nodes for values of LLVM's IR: functions and variables that modules share by name,
 * constants, and results of operators. Integers as wide as a pointer count as pointers, because
 * programs for persistent memory store offsets and add them to a base. */
#include <string.h>

#include "source/alias/ir_internal.h"

static bool holds_pointer(LLVMTypeRef t)
{
	switch (LLVMGetTypeKind(t)) {
	case LLVMPointerTypeKind:
	case LLVMStructTypeKind:
	case LLVMArrayTypeKind:
	case LLVMVectorTypeKind: return true;
	case LLVMIntegerTypeKind: return LLVMGetIntTypeWidth(t) >= 64;
	default: return false;
	}
}

const char *ir_name(struct alias *a, LLVMValueRef v)
{
	size_t len;
	const char *name = LLVMGetValueName2(v, &len);

	return arena_string(&a->arena, name, len);
}

/* ---- what modules share ---- */

static bool is_shared(LLVMValueRef v)
{
	LLVMLinkage l = LLVMGetLinkage(v);

	return l != LLVMInternalLinkage && l != LLVMPrivateLinkage;
}

static void add_function(struct alias *a, LLVMValueRef v)
{
	struct function f = { .value = v,
			      .name = ir_name(a, v),
			      .is_defined = !LLVMIsDeclaration(v),
			      .nparameters = LLVMCountParams(v) };

	f.object = solver_object(a->solver, SOLVE_FUNCTION, f.name);
	if (f.is_defined) {
		f.result = solver_node(a->solver);
		f.parameters = arena_alloc(&a->arena, (f.nparameters + 1) * sizeof *f.parameters);
		for (unsigned i = 0; i < f.nparameters; i++)
			f.parameters[i] = ir_node(a, LLVMGetParam(v, i));
		if (LLVMIsFunctionVarArg(LLVMGlobalGetValueType(v))) {
			f.varargs = solver_object(a->solver, SOLVE_VARARGS, f.name);
			solver_flatten(a->solver, f.varargs);
		}
	}
	map_set(&a->objects, (uint64_t)(uintptr_t)v, ir_number(f.object));
	*vec_add(&a->functions) = f;
	map_set(&a->function_of_object, f.object, ir_number((uint32_t)a->functions.n));
	if (f.is_defined && is_shared(v))
		*vec_add(&a->symbols) =
			(struct symbol){ f.name, (uint32_t)a->functions.n - 1, f.object };
}

void ir_declare(struct alias *a, LLVMModuleRef m)
{
	for (LLVMValueRef v = LLVMGetFirstFunction(m); v; v = LLVMGetNextFunction(v))
		add_function(a, v);
	for (LLVMValueRef v = LLVMGetFirstGlobal(m); v; v = LLVMGetNextGlobal(v)) {
		uint32_t object = solver_object(a->solver, SOLVE_GLOBAL, ir_name(a, v));

		map_set(&a->objects, (uint64_t)(uintptr_t)v, ir_number(object));
		if (!LLVMIsDeclaration(v) && is_shared(v))
			*vec_add(&a->symbols) = (struct symbol){ solver_name(a->solver, object),
								 UINT32_MAX, object };
	}
}

const struct symbol *symbol_find(const struct alias *a, const char *name)
{
	size_t low = 0, high = a->symbols.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(a->symbols.at[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < a->symbols.n && strcmp(a->symbols.at[low].name, name) == 0
		       ? &a->symbols.at[low]
		       : NULL;
}

bool symbol_is(const struct alias *a, const struct symbol *s, const char *name)
{
	return s && s < a->symbols.at + a->symbols.n && strcmp(s->name, name) == 0;
}

/* Lets the node point to the global variable or function, or to all definitions of its name. */
static void point_to_global(struct alias *a, uint32_t node, LLVMValueRef v)
{
	uint32_t object = ir_known(&a->objects, v);
	const char *name = solver_name(a->solver, object);
	const struct symbol *s = LLVMIsDeclaration(v) ? symbol_find(a, name) : NULL;

	if (!s)
		solver_point(a->solver, node, solver_location(a->solver, object, 0));
	for (; symbol_is(a, s, name); s++)
		solver_point(a->solver, node, solver_location(a->solver, s->object, 0));
}

/* ---- values ---- */

enum { POINTER_BYTES = 8 };

/* Asks whether the value is a char pointer plus a constant. That is a loop over bytes or lines, or
 * the way from a member to the object that contains the member. */
static bool is_char_step(LLVMValueRef v)
{
	LLVMTypeRef t = LLVMGetGEPSourceElementType(v);

	return LLVMGetTypeKind(t) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) == 8 &&
	       LLVMIsAConstantInt(LLVMGetOperand(v, 1));
}

/* Adds the constraint of a char step (is_char_step()). A step that is no multiple of a pointer's
 * size cannot lead from one pointer member to another. Such a step stays at the same location, or
 * each byte of a string would become a member. */
static void constrain_char_step(struct alias *a, uint32_t node, LLVMValueRef v)
{
	int64_t bytes = LLVMConstIntGetSExtValue(LLVMGetOperand(v, 1));
	uint32_t from = ir_node(a, LLVMGetOperand(v, 0));

	if (bytes % POINTER_BYTES)
		solver_copy(a->solver, node, from);
	else if (bytes > 0)
		solver_stride(a->solver, node, from, bytes);
	else
		solver_step(a->solver, node, from, bytes);
}

/* Gives how many bytes a getelementptr adds to its pointer. Indices of arrays are left out. */
static int64_t step_of(struct alias *a, LLVMValueRef v)
{
	LLVMTypeRef t = LLVMGetGEPSourceElementType(v);
	int64_t bytes = 0;

	for (int i = 2; i < LLVMGetNumOperands(v); i++) {
		if (LLVMGetTypeKind(t) == LLVMStructTypeKind) {
			unsigned field =
				(unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(v, (unsigned)i));

			bytes += (int64_t)LLVMOffsetOfElement(a->layout, t, field);
			t = LLVMStructGetTypeAtIndex(t, field);
		} else {
			t = LLVMGetElementType(t);
		}
	}
	return bytes;
}

void ir_constrain_expression(struct alias *a, uint32_t node, LLVMValueRef v, LLVMOpcode op)
{
	switch (op) {
	case LLVMGetElementPtr:
		if (is_char_step(v))
			constrain_char_step(a, node, v);
		else
			solver_step(a->solver, node, ir_node(a, LLVMGetOperand(v, 0)),
				    step_of(a, v));
		break;
	case LLVMSub:
	case LLVMBitCast:
	case LLVMIntToPtr:
	case LLVMPtrToInt:
	case LLVMAddrSpaceCast:
	case LLVMFreeze:
	case LLVMFNeg: solver_copy(a->solver, node, ir_node(a, LLVMGetOperand(v, 0))); break;
	case LLVMAdd:
	case LLVMAnd:
	case LLVMOr:
	case LLVMXor:
	case LLVMPHI:
	case LLVMSelect:
	case LLVMInsertValue:
	case LLVMExtractValue:
	case LLVMInsertElement:
	case LLVMExtractElement:
	case LLVMShuffleVector:
		for (int i = op == LLVMSelect; i < LLVMGetNumOperands(v); i++)
			solver_copy(a->solver, node, ir_node(a, LLVMGetOperand(v, (unsigned)i)));
		break;
	default: break; /* its result is no pointer */
	}
}

static uint32_t node_of_constant(struct alias *a, LLVMValueRef v, uint32_t node)
{
	if (LLVMIsAGlobalAlias(v))
		solver_copy(a->solver, node, ir_node(a, LLVMAliasGetAliasee(v)));
	else if (LLVMIsAGlobalValue(v))
		point_to_global(a, node, v);
	else if (LLVMIsAConstantExpr(v))
		ir_constrain_expression(a, node, v, LLVMGetConstOpcode(v));
	return node;
}

uint32_t ir_node(struct alias *a, LLVMValueRef v)
{
	uint32_t node = ir_known(&a->nodes, v);

	if (node)
		return node;
	if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMMetadataTypeKind || !holds_pointer(LLVMTypeOf(v)))
		return 0;
	if (LLVMIsConstant(v) && !LLVMIsAGlobalValue(v) && !LLVMIsAConstantExpr(v))
		return 0;
	node = solver_node(a->solver);
	map_set(&a->nodes, (uint64_t)(uintptr_t)v, ir_number(node));
	return LLVMIsConstant(v) ? node_of_constant(a, v, node) : node;
}
