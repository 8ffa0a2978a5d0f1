/* From LLVM's IR to constraints. Integers as wide as pointers count as pointers, since persistent memory is full of offsets that are
 * added to a base. Array indices are left out: all elements of an array are one. */
#include "source/alias/internal.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

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

static void *number(uint32_t n)
{
	return (void *)(uintptr_t)n;
}

static uint32_t known(const struct map *m, const void *key)
{
	return (uint32_t)(uintptr_t)map_get(m, (uint64_t)(uintptr_t)key);
}

static const char *name_of(struct alias *a, LLVMValueRef v)
{
	size_t len;
	const char *name = LLVMGetValueName2(v, &len);

	return arena_string(&a->arena, name, len);
}

/* ---- where an instruction is ---- */

static const char *path_of(struct alias *a, LLVMValueRef v)
{
	unsigned nfolder = 0, nname = 0;
	const char *folder = LLVMGetDebugLocDirectory(v, &nfolder), *name = LLVMGetDebugLocFilename(v, &nname);
	uint64_t key = (uint64_t)(uintptr_t)name * 31 + (uint64_t)(uintptr_t)folder;
	char *found = name ? map_get(&a->paths, key) : NULL, joined[PATH_MAX], real[PATH_MAX];

	if (!name || found)
		return found;
	snprintf(joined, sizeof joined, "%.*s%s%.*s", name[0] == '/' ? 0 : (int)nfolder, folder, name[0] == '/' ? "" : "/", (int)nname, name);
	found = arena_string(&a->arena, realpath(joined, real) ? real : joined, strlen(realpath(joined, real) ? real : joined));
	map_set(&a->paths, key, found);
	return found;
}

static const char *place_name(struct alias *a, LLVMValueRef v, const char *what)
{
	const char *path = path_of(a, v), *slash = path ? strrchr(path, '/') : NULL;
	char *text = path ? xasprintf("%s at %s:%u", what, slash ? slash + 1 : path, LLVMGetDebugLocLine(v)) : xasprintf("%s", what);
	const char *copy = arena_text(&a->arena, text);

	free(text);
	return copy;
}

static void add_site(struct alias *a, LLVMValueRef v, bool is_store, const char *callee, const uint32_t *pointers, size_t n)
{
	struct site s = { .file = path_of(a, v), .callee = callee, .is_store = is_store, .npointers = n };

	if (!s.file)
		return;
	s.line = LLVMGetDebugLocLine(v);
	s.column = LLVMGetDebugLocColumn(v);
	s.pointers = arena_alloc(&a->arena, (n + 1) * sizeof *s.pointers);
	memcpy(s.pointers, pointers, n * sizeof *pointers);
	*vec_add(&a->sites) = s;
}

/* ---- what modules share ---- */

static bool is_shared(LLVMValueRef v)
{
	LLVMLinkage l = LLVMGetLinkage(v);

	return l != LLVMInternalLinkage && l != LLVMPrivateLinkage;
}

static void add_function(struct alias *a, LLVMValueRef v)
{
	struct function f = { .value = v, .name = name_of(a, v), .is_defined = !LLVMIsDeclaration(v), .nparameters = LLVMCountParams(v) };

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
	map_set(&a->objects, (uint64_t)(uintptr_t)v, number(f.object));
	*vec_add(&a->functions) = f;
	map_set(&a->function_of_object, f.object, number((uint32_t)a->functions.n));
	if (f.is_defined && is_shared(v))
		*vec_add(&a->symbols) = (struct symbol){ f.name, (uint32_t)a->functions.n - 1, f.object };
}

void ir_declare(struct alias *a, LLVMModuleRef m)
{
	for (LLVMValueRef v = LLVMGetFirstFunction(m); v; v = LLVMGetNextFunction(v))
		add_function(a, v);
	for (LLVMValueRef v = LLVMGetFirstGlobal(m); v; v = LLVMGetNextGlobal(v)) {
		uint32_t object = solver_object(a->solver, SOLVE_GLOBAL, name_of(a, v));

		map_set(&a->objects, (uint64_t)(uintptr_t)v, number(object));
		if (!LLVMIsDeclaration(v) && is_shared(v))
			*vec_add(&a->symbols) = (struct symbol){ solver_name(a->solver, object), UINT32_MAX, object };
	}
}

/* The first of this name; there are several when a database describes several programs. */
static const struct symbol *find_symbol(const struct alias *a, const char *name)
{
	size_t low = 0, high = a->symbols.n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (strcmp(a->symbols.at[middle].name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < a->symbols.n && strcmp(a->symbols.at[low].name, name) == 0 ? &a->symbols.at[low] : NULL;
}

static bool is_same_symbol(const struct alias *a, const struct symbol *s, const char *name)
{
	return s && s < a->symbols.at + a->symbols.n && strcmp(s->name, name) == 0;
}

/* Points the node at what a global's name stands for. */
static void point_to_global(struct alias *a, uint32_t node, LLVMValueRef v)
{
	uint32_t object = known(&a->objects, v);
	const char *name = solver_name(a->solver, object);
	const struct symbol *s = LLVMIsDeclaration(v) ? find_symbol(a, name) : NULL;

	if (!s)
		solver_point(a->solver, node, solver_location(a->solver, object, 0));
	for (; is_same_symbol(a, s, name); s++)
		solver_point(a->solver, node, solver_location(a->solver, s->object, 0));
}

/* ---- values ---- */

/* Bytes that a getelementptr adds, without indices into arrays; of char pointers with them, if they are constant. */
static int64_t step_of(struct alias *a, LLVMValueRef v)
{
	LLVMTypeRef t = LLVMGetGEPSourceElementType(v);
	int64_t bytes = 0;

	if (LLVMGetTypeKind(t) == LLVMIntegerTypeKind && LLVMGetIntTypeWidth(t) == 8 && LLVMIsAConstantInt(LLVMGetOperand(v, 1)))
		return LLVMConstIntGetSExtValue(LLVMGetOperand(v, 1));
	for (int i = 2; i < LLVMGetNumOperands(v); i++) {
		if (LLVMGetTypeKind(t) == LLVMStructTypeKind) {
			unsigned field = (unsigned)LLVMConstIntGetZExtValue(LLVMGetOperand(v, (unsigned)i));

			bytes += (int64_t)LLVMOffsetOfElement(a->layout, t, field);
			t = LLVMStructGetTypeAtIndex(t, field);
		} else {
			t = LLVMGetElementType(t);
		}
	}
	return bytes;
}

static void constrain_expression(struct alias *a, uint32_t node, LLVMValueRef v, LLVMOpcode op)
{
	switch (op) {
	case LLVMGetElementPtr: solver_step(a->solver, node, ir_node(a, LLVMGetOperand(v, 0)), step_of(a, v)); break;
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
	default: break; /* no pointer comes out of it */
	}
}

static uint32_t node_of_constant(struct alias *a, LLVMValueRef v, uint32_t node)
{
	if (LLVMIsAGlobalAlias(v))
		solver_copy(a->solver, node, ir_node(a, LLVMAliasGetAliasee(v)));
	else if (LLVMIsAGlobalValue(v))
		point_to_global(a, node, v);
	else if (LLVMIsAConstantExpr(v))
		constrain_expression(a, node, v, LLVMGetConstOpcode(v));
	return node;
}

uint32_t ir_node(struct alias *a, LLVMValueRef v)
{
	uint32_t node = known(&a->nodes, v);

	if (node)
		return node;
	if (LLVMGetTypeKind(LLVMTypeOf(v)) == LLVMMetadataTypeKind || !holds_pointer(LLVMTypeOf(v)))
		return 0;
	if (LLVMIsConstant(v) && !LLVMIsAGlobalValue(v) && !LLVMIsAConstantExpr(v))
		return 0;
	node = solver_node(a->solver);
	map_set(&a->nodes, (uint64_t)(uintptr_t)v, number(node));
	return LLVMIsConstant(v) ? node_of_constant(a, v, node) : node;
}

/* ---- initial values of variables ---- */

static void constrain_initial(struct alias *a, uint32_t object, int64_t offset, LLVMValueRef v)
{
	LLVMTypeRef t = LLVMTypeOf(v);
	LLVMTypeKind kind = LLVMGetTypeKind(t);

	if (LLVMIsAConstantAggregateZero(v) || LLVMIsUndef(v) || LLVMIsAConstantDataSequential(v))
		return;
	if (kind == LLVMStructTypeKind)
		for (unsigned i = 0; i < LLVMCountStructElementTypes(t); i++)
			constrain_initial(a, object, offset + (int64_t)LLVMOffsetOfElement(a->layout, t, i), LLVMGetOperand(v, i));
	else if (kind == LLVMArrayTypeKind)
		for (unsigned i = 0; i < LLVMGetArrayLength(t); i++)
			constrain_initial(a, object, offset, LLVMGetOperand(v, i));
	else if (ir_node(a, v))
		solver_copy(a->solver, solver_location(a->solver, object, offset), ir_node(a, v));
}

/* ---- calls ---- */

void ir_bind(struct alias *a, uint32_t call, const struct function *f)
{
	const struct call c = a->calls.at[call];

	if (!f->is_defined) {
		external_apply(a, call, f->name);
		return;
	}
	for (size_t i = 0; i < c.nargs; i++) {
		if (i < f->nparameters)
			solver_copy(a->solver, f->parameters[i], c.args[i]);
		else if (f->varargs)
			solver_copy(a->solver, solver_location(a->solver, f->varargs, 0), c.args[i]);
	}
	solver_copy(a->solver, c.result, f->result);
}

/* A list of arguments holds a pointer to them, somewhere. */
static void start_varargs(struct alias *a, const struct function *f, LLVMValueRef list)
{
	uint32_t node = solver_node(a->solver), object;

	while (LLVMIsAGetElementPtrInst(list) || LLVMIsABitCastInst(list))
		list = LLVMGetOperand(list, 0);
	object = known(&a->objects, list);
	if (object)
		solver_flatten(a->solver, object);
	if (f->varargs)
		solver_point(a->solver, node, solver_location(a->solver, f->varargs, 0));
	solver_store(a->solver, ir_node(a, list), node);
}

static LLVMValueRef stripped(LLVMValueRef v)
{
	while (LLVMIsAConstantExpr(v) && LLVMGetConstOpcode(v) == LLVMBitCast)
		v = LLVMGetOperand(v, 0);
	return v;
}

static int64_t constant(LLVMValueRef call, unsigned i)
{
	LLVMValueRef v = i < LLVMGetNumArgOperands(call) ? LLVMGetOperand(call, i) : NULL;

	return v && LLVMIsAConstantInt(v) ? LLVMConstIntGetSExtValue(v) : INT64_MIN;
}

/* memcpy for llvm.memcpy.p0i8.p0i8.i64 */
static const char *source_name(struct alias *a, const char *name)
{
	const char *dot;

	if (strncmp(name, "llvm.", 5) != 0)
		return name;
	dot = strchr(name + 5, '.');
	return arena_string(&a->arena, name + 5, dot ? (size_t)(dot - name - 5) : strlen(name + 5));
}

static void call_direct(struct alias *a, uint32_t call, LLVMValueRef callee)
{
	const struct function *f = &a->functions.at[known(&a->function_of_object, number(known(&a->objects, callee))) - 1];
	const char *name = f->name;
	const struct symbol *s = f->is_defined ? NULL : find_symbol(a, name);

	if (!s) {
		struct function copy = *f;

		ir_bind(a, call, &copy);
	}
	for (; is_same_symbol(a, s, name); s++)
		if (s->function != UINT32_MAX) {
			struct function copy = a->functions.at[s->function];

			ir_bind(a, call, &copy);
		}
}

static void constrain_call(struct alias *a, const struct function *f, LLVMValueRef v)
{
	LLVMValueRef callee = stripped(LLVMGetCalledValue(v));
	const char *name = LLVMIsAFunction(callee) ? name_of(a, callee) : NULL;
	struct call c = { .nargs = LLVMGetNumArgOperands(v), .flags = -1 };

	if (LLVMIsAInlineAsm(callee) || (name && strncmp(name, "llvm.dbg.", 9) == 0))
		return;
	if (name && strcmp(name, "llvm.va_start") == 0) {
		start_varargs(a, f, LLVMGetOperand(v, 0));
		return;
	}
	c.name = place_name(a, v, name ? name : "call");
	c.result = LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMVoidTypeKind ? ir_node(a, v) : 0;
	c.args = arena_alloc(&a->arena, (c.nargs + 1) * sizeof *c.args);
	for (unsigned i = 0; i < c.nargs; i++)
		c.args[i] = ir_node(a, LLVMGetOperand(v, i));
	if (name && strncmp(name, "mmap", 4) == 0 && constant(v, 3) != INT64_MIN) {
		c.flags = constant(v, 3);
		c.is_anonymous = (c.flags & MAP_ANONYMOUS) || constant(v, 4) == -1;
	}
	*vec_add(&a->calls) = c;
	add_site(a, v, name && external_is_store(name), name ? source_name(a, name) : NULL, c.args, c.nargs);
	if (name)
		call_direct(a, (uint32_t)a->calls.n - 1, callee);
	else
		solver_call(a->solver, ir_node(a, LLVMGetCalledValue(v)), (uint32_t)a->calls.n - 1);
}

/* ---- instructions ---- */

static void constrain_alloca(struct alias *a, const struct function *f, LLVMValueRef v)
{
	const char *name = name_of(a, v);
	char *full = xasprintf("%s.%s", f->name, *name ? name : "?");
	uint32_t object = solver_object(a->solver, SOLVE_STACK, arena_text(&a->arena, full));

	free(full);
	map_set(&a->objects, (uint64_t)(uintptr_t)v, number(object));
	solver_point(a->solver, ir_node(a, v), solver_location(a->solver, object, 0));
}

static void constrain_write(struct alias *a, LLVMValueRef v, LLVMValueRef pointer, LLVMValueRef value)
{
	uint32_t to = ir_node(a, pointer);

	solver_store(a->solver, to, ir_node(a, value));
	add_site(a, v, true, NULL, &to, 1);
}

static void constrain(struct alias *a, const struct function *f, LLVMValueRef v)
{
	LLVMOpcode op = LLVMGetInstructionOpcode(v);

	switch (op) {
	case LLVMAlloca: constrain_alloca(a, f, v); break;
	case LLVMLoad: solver_load(a->solver, ir_node(a, v), ir_node(a, LLVMGetOperand(v, 0))); break;
	case LLVMStore: constrain_write(a, v, LLVMGetOperand(v, 1), LLVMGetOperand(v, 0)); break;
	case LLVMAtomicRMW:
		solver_load(a->solver, ir_node(a, v), ir_node(a, LLVMGetOperand(v, 0)));
		constrain_write(a, v, LLVMGetOperand(v, 0), LLVMGetOperand(v, 1));
		break;
	case LLVMAtomicCmpXchg:
		solver_load(a->solver, ir_node(a, v), ir_node(a, LLVMGetOperand(v, 0)));
		constrain_write(a, v, LLVMGetOperand(v, 0), LLVMGetOperand(v, 2));
		break;
	case LLVMVAArg: solver_load(a->solver, ir_node(a, v), ir_node(a, LLVMGetOperand(v, 0))); break;
	case LLVMCall:
	case LLVMInvoke: constrain_call(a, f, v); break;
	case LLVMRet:
		if (LLVMGetNumOperands(v))
			solver_copy(a->solver, f->result, ir_node(a, LLVMGetOperand(v, 0)));
		break;
	default:
		if (LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMVoidTypeKind && ir_node(a, v))
			constrain_expression(a, ir_node(a, v), v, op);
		break;
	}
}

void ir_constrain(struct alias *a, LLVMModuleRef m)
{
	a->layout = LLVMGetModuleDataLayout(m);
	for (LLVMValueRef v = LLVMGetFirstGlobal(m); v; v = LLVMGetNextGlobal(v))
		if (LLVMGetInitializer(v))
			constrain_initial(a, known(&a->objects, v), 0, LLVMGetInitializer(v));
	for (LLVMValueRef v = LLVMGetFirstFunction(m); v; v = LLVMGetNextFunction(v)) {
		struct function f = a->functions.at[known(&a->function_of_object, number(known(&a->objects, v))) - 1];

		for (LLVMBasicBlockRef b = LLVMGetFirstBasicBlock(v); b; b = LLVMGetNextBasicBlock(b))
			for (LLVMValueRef i = LLVMGetFirstInstruction(b); i; i = LLVMGetNextInstruction(i))
				constrain(a, &f, i);
	}
}
