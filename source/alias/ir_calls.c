/* Turns calls into constraints: arguments are copied to parameters, and the result comes back. For
 * a function without a body, externals.c decides. */
#include <string.h>
#include <sys/mman.h>

#include "source/alias/ir_internal.h"

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
			solver_copy(a->solver, solver_location(a->solver, f->varargs, 0),
				    c.args[i]);
	}
	solver_copy(a->solver, c.result, f->result);
}

/* Returns the node of a variable of type va_list. What the variable points to is made one location,
 * because machines differ in where in it the pointer to the arguments lies. */
static uint32_t list_node(struct alias *a, LLVMValueRef list)
{
	uint32_t object;

	while (LLVMIsAGetElementPtrInst(list) || LLVMIsABitCastInst(list))
		list = LLVMGetOperand(list, 0);
	object = ir_known(&a->objects, list);
	if (object)
		solver_flatten(a->solver, object);
	return ir_node(a, list);
}

static void start_varargs(struct alias *a, const struct function *f, LLVMValueRef call)
{
	uint32_t node = solver_node(a->solver);

	if (f->varargs)
		solver_point(a->solver, node, solver_location(a->solver, f->varargs, 0));
	solver_store(a->solver, list_node(a, LLVMGetOperand(call, 0)), node);
}

static void copy_varargs(struct alias *a, LLVMValueRef call)
{
	uint32_t node = solver_node(a->solver);

	solver_load(a->solver, node, list_node(a, LLVMGetOperand(call, 1)));
	solver_store(a->solver, list_node(a, LLVMGetOperand(call, 0)), node);
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

/* Gives the name that the source has for an intrinsic: memcpy for llvm.memcpy.p0i8.p0i8.i64. Other
 * names stay. */
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
	const struct function *f =
		&a->functions.at[ir_known(&a->function_of_object,
					  ir_number(ir_known(&a->objects, callee))) -
				 1];
	const char *name = f->name;
	const struct symbol *s = f->is_defined ? NULL : symbol_find(a, name);

	if (!s) {
		struct function copy = *f;

		ir_bind(a, call, &copy);
	}
	for (; symbol_is(a, s, name); s++)
		if (s->function != UINT32_MAX) {
			struct function copy = a->functions.at[s->function];

			ir_bind(a, call, &copy);
		}
}

/* Asks whether the name is that of the wanted intrinsic. LLVM 19 appends the type of the pointer:
 * llvm.va_start.p0. */
static bool is_intrinsic(const char *name, const char *wanted)
{
	size_t len = strlen(wanted);

	return name && strncmp(name, wanted, len) == 0 && (name[len] == '\0' || name[len] == '.');
}

void ir_constrain_call(struct alias *a, const struct function *f, LLVMValueRef v)
{
	LLVMValueRef callee = stripped(LLVMGetCalledValue(v));
	const char *name = LLVMIsAFunction(callee) ? ir_name(a, callee) : NULL;
	struct call c = { .nargs = LLVMGetNumArgOperands(v), .flags = -1 };

	if (LLVMIsAInlineAsm(callee) || (name && strncmp(name, "llvm.dbg.", 9) == 0))
		return;
	if (is_intrinsic(name, "llvm.va_start")) {
		start_varargs(a, f, v);
		return;
	}
	if (is_intrinsic(name, "llvm.va_copy")) {
		copy_varargs(a, v);
		return;
	}
	c.name = site_name(a, v, name ? name : "call");
	c.result = LLVMGetTypeKind(LLVMTypeOf(v)) != LLVMVoidTypeKind ? ir_node(a, v) : 0;
	c.args = arena_alloc(&a->arena, (c.nargs + 1) * sizeof *c.args);
	for (unsigned i = 0; i < c.nargs; i++)
		c.args[i] = ir_node(a, LLVMGetOperand(v, i));
	if (name && strncmp(name, "mmap", 4) == 0 && constant(v, 3) != INT64_MIN) {
		c.flags = constant(v, 3);
		c.is_anonymous = (c.flags & MAP_ANONYMOUS) || constant(v, 4) == -1;
	}
	*vec_add(&a->calls) = c;
	site_add(a, v, name && external_is_store(name), name ? source_name(a, name) : NULL, c.args,
		 c.nargs);
	if (name)
		call_direct(a, (uint32_t)a->calls.n - 1, callee);
	else
		solver_call(a->solver, ir_node(a, LLVMGetCalledValue(v)), (uint32_t)a->calls.n - 1);
}
