# libpmend_solver.so: what needs Z3, which takes a moment to load and so is opened by `pmend explore` alone.
EXPR_SRC := $(wildcard explore/expr/*.c) # freestanding: the tracer is made of them, too
SOLVER_SRC := $(wildcard explore/z3/*.c) $(EXPR_SRC) util/alloc.c util/alloc_die.c util/error.c
SOLVER_OBJ := $(SOLVER_SRC:%.c=$(B)/obj/solver-so/%.o)

$(B)/obj/solver-so/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(ALL_CFLAGS) -fPIC -fvisibility=hidden -c -o $@ $<

$(B)/libexec/pmend/libpmend_solver.so: $(SOLVER_OBJ)
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) -shared -Wl,-z,defs -o $@ $^ -lz3
	echo "built $@"

-include $(SOLVER_OBJ:.o=.d)
