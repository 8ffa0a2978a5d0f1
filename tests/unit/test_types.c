/* Types of stores: each store instruction of tests/types/forms*.c is asked about, as if it had stored to an instance at a known address, and must be
 * typed as the comment on its line says. Built by gcc and clang, without and with optimisation. No recording is needed: a trace would only add
 * the addresses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <Zydis/Zydis.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "source/types.h"
#include "util/vec.h"

enum { MARKS_MAX = 400, LEVELS_MAX = 6, ALTERNATIVES_MAX = 4 };

struct expected {
	char type[64], field[64];
	uint64_t offset;
};

/* What all tests share, so that the sources are read once. */
struct fixture {
	char folder[64]; /* with compile_commands.json */
	struct symbols *symbols;
	struct types *by_source, *by_dwarf;
	uint64_t base, seq;
	uint32_t nsites;
};

/* What a line's comment says. */
struct mark {
	unsigned line;
	enum { MARK_DIRECT, MARK_CALL, MARK_INLINED, MARK_WIDE, MARK_CALLED } how;
	struct expected level[ALTERNATIVES_MAX][LEVELS_MAX];
	unsigned nlevels[ALTERNATIVES_MAX], n;
	bool is_seen[ALTERNATIVES_MAX], is_optional[ALTERNATIVES_MAX];
};

struct insn {
	uint64_t pc, end;
	bool is_call;
	uint64_t target; /* of a call */
	uint32_t size_bytes; /* of a store; 0: it is none */
	int64_t offset;
};

struct function {
	char name[128];
	uint64_t start, end;
};

struct program {
	char path[512], source[64];
	bool is_optimised;
	struct mark marks[MARKS_MAX];
	unsigned nmarks;
	VEC(struct insn) insns;
	VEC(struct function) functions;
	struct trace_object object;
	struct fixture *f;
	struct types *types;
	unsigned ntried, nright, nwrong;
	bool is_strict; /* a wrong answer fails the test at once */
};

/* ---- the comments ---- */

static void parse_levels(struct mark *m, char *text)
{
	char *rest, *save = NULL, *more;

	for (more = strtok_r(text, "|", &save); more; more = strtok_r(NULL, "|", &save)) {
		unsigned n = 0;

		more += strspn(more, " ");
		m->is_optional[m->n] = *more == '?';
		more += *more == '?';
		for (char *part = strtok_r(more, ",", &rest); part; part = strtok_r(NULL, ",", &rest)) {
			struct expected *e = &m->level[m->n][n++];
			char *last = part + strlen(part), *field;

			while (last[-1] == ' ')
				*--last = 0;
			last = strrchr(part, ' ');
			e->offset = strtoull(last, NULL, 10);
			*last = 0;
			field = strrchr(part, ' ');
			snprintf(e->field, sizeof e->field, "%s", strcmp(field + 1, "-") == 0 ? "" : field + 1);
			*field = 0;
			snprintf(e->type, sizeof e->type, "%s", part + strspn(part, " "));
		}
		m->nlevels[m->n++] = n;
	}
}

static void read_marks(struct program *p)
{
	static const char *const words[] = { "", "CALL ", "INLINED ", "WIDE ", "CALLED" };
	FILE *f = fopen(p->source, "r");
	char text[512], *at;

	assert_non_null(f);
	for (unsigned line = 1; fgets(text, sizeof text, f); line++) {
		struct mark *m = &p->marks[p->nmarks];

		at = strstr(text, "/* TYPES: ");
		if (!at || !strstr(at, "*/"))
			continue;
		*strstr(at, "*/") = 0;
		at += strlen("/* TYPES: ");
		*m = (struct mark){ .line = line };
		for (unsigned i = 1; i < sizeof words / sizeof words[0]; i++)
			if (strncmp(at, words[i], strlen(words[i])) == 0) {
				m->how = i;
				at += strlen(words[i]);
				break;
			}
		if (m->how != MARK_CALLED)
			parse_levels(m, at);
		assert_true(++p->nmarks < MARKS_MAX);
	}
	fclose(f);
	assert_true(p->nmarks > 5);
}

/* ---- the program's code ---- */

static void add_instruction(struct program *p, const ZydisDecodedInstruction *in, const ZydisDecodedOperand *ops, uint64_t pc)
{
	struct insn i = { .pc = pc, .end = pc + in->length, .is_call = in->meta.category == ZYDIS_CATEGORY_CALL };
	ZyanU64 target;

	if (i.is_call && ops[0].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(in, &ops[0], pc, &target)))
		i.target = target;
	for (unsigned n = 0; n < in->operand_count && !i.is_call && in->meta.category != ZYDIS_CATEGORY_PUSH; n++) {
		const ZydisDecodedOperand *op = &ops[n];

		if (op->type != ZYDIS_OPERAND_TYPE_MEMORY || !(op->actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) || op->mem.base == ZYDIS_REGISTER_RSP ||
		    op->mem.base == ZYDIS_REGISTER_RIP || (op->mem.base == ZYDIS_REGISTER_RBP && !p->is_optimised))
			continue;
		i.size_bytes = op->size / 8;
		i.offset = op->mem.disp.value;
	}
	if (i.is_call || i.size_bytes)
		*vec_add(&p->insns) = i;
}

static void add_function(struct program *p, const char *raw, const GElf_Shdr *text, const GElf_Sym *sym, const char *name)
{
	struct function f = { .start = sym->st_value, .end = sym->st_value + sym->st_size };
	ZydisDecoder decoder;
	ZydisDecodedInstruction in;
	ZydisDecodedOperand ops[ZYDIS_MAX_OPERAND_COUNT];
	uint64_t pc = f.start;

	snprintf(f.name, sizeof f.name, "%s", name);
	*vec_add(&p->functions) = f;
	if (strcmp(name, "main") == 0)
		return;
	ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
	while (pc < f.end &&
	       ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, raw + (pc - text->sh_addr + text->sh_offset), f.end - pc, &in, ops))) {
		add_instruction(p, &in, ops, pc);
		pc += in.length;
	}
}

static void read_code(struct program *p)
{
	int fd = open(p->path, O_RDONLY);
	Elf *elf;
	Elf_Scn *section = NULL, *table = NULL;
	GElf_Shdr header, text = { 0 }, symbols = { 0 };
	size_t names, raw_bytes;
	const char *raw;
	GElf_Sym sym;

	if (fd < 0)
		fail_msg("%s is not built", p->path);
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	raw = elf_rawfile(elf, &raw_bytes);
	assert_int_equal(elf_getshdrstrndx(elf, &names), 0);
	while ((section = elf_nextscn(elf, section)) && gelf_getshdr(section, &header))
		if (strcmp(elf_strptr(elf, names, header.sh_name), ".text") == 0)
			text = header;
		else if (header.sh_type == SHT_SYMTAB) {
			symbols = header;
			table = section;
		}
	p->object = (struct trace_object){ .va = 0, .len_bytes = text.sh_addr + text.sh_size, .offset = text.sh_offset - text.sh_addr, .path = p->path };
	for (int i = 0; table && gelf_getsym(elf_getdata(table, NULL), i, &sym); i++)
		if (GELF_ST_TYPE(sym.st_info) == STT_FUNC && sym.st_size && sym.st_value >= text.sh_addr && sym.st_value < text.sh_addr + text.sh_size)
			add_function(p, raw, &text, &sym, elf_strptr(elf, symbols.sh_link, sym.st_name));
	elf_end(elf);
	close(fd);
	assert_true(p->insns.n > 5);
}

static struct mark *mark_at(struct program *p, const struct symbol *s)
{
	const char *name = strrchr(p->source, '/');

	for (unsigned i = 0; s->file && strstr(s->file, name + 1) && i < p->nmarks; i++)
		if (p->marks[i].line == s->line)
			return &p->marks[i];
	return NULL;
}

/* ---- questions ---- */

static bool is_as_expected(struct program *p, const struct mark *m, unsigned alternative, uint64_t addr, const struct typed *typed)
{
	if (typed->n != m->nlevels[alternative])
		return false;
	for (unsigned i = 0; i < typed->n; i++) {
		const struct expected *e = &m->level[alternative][i];

		if (strcmp(types_name(p->types, typed->level[i].type), e->type) != 0 || typed->level[i].instance != addr - e->offset)
			return false;
		if (m->how != MARK_WIDE && strcmp(types_name(p->types, typed->level[i].field), e->field) != 0)
			return false;
	}
	return true;
}

static void complain(struct program *p, const struct mark *m, const struct typed *typed, uint64_t addr)
{
	/* nothing wrong in saying nothing; the line may have a call that stores nothing, too. All that must be seen is checked later. */
	if (typed->means == TYPE_BY_PATH && (!p->is_strict || m->how == MARK_CALL))
		return;
	p->nwrong++;
	fprintf(stderr, "%s:%u (%s): typed as", p->source, m->line, strrchr(p->path, '/') + 1);
	for (unsigned i = 0; i < typed->n; i++)
		fprintf(stderr, "%s %s %s %llu", i ? "," : "", types_name(p->types, typed->level[i].type), types_name(p->types, typed->level[i].field),
			(unsigned long long)(addr - typed->level[i].instance));
	fprintf(stderr, "\n");
}

/* Each question is about another instance, so that no answer helps another. */
static void ask(struct program *p, struct mark *m, const struct trace_object *object, uint64_t pc, uint32_t size_bytes, const struct trace_node *node)
{
	struct trace_site site = { .node = node, .object = object, .pc = pc, .id = ++p->f->nsites, .size_bytes = size_bytes, .kind = PMT_STORE };
	struct typed typed;
	uint64_t addr = 0;

	p->ntried++;
	for (unsigned i = 0; i < m->n; i++) {
		struct trace_event ev = { .seq = ++p->f->seq, .site = &site, .kind = PMT_STORE, .size_bytes = size_bytes };

		p->f->base += 1 << 20;
		ev.addr = addr = PMT_ADDR(1, p->f->base + m->level[i][m->nlevels[i] - 1].offset);
		types_of(p->types, &ev, &typed);
		if (is_as_expected(p, m, i, addr, &typed)) {
			m->is_seen[i] = true;
			p->nright++;
			return;
		}
	}
	complain(p, m, &typed, addr);
}

/* All stores of an assignment of a struct: the first lies at its beginning, wherever the others are. */
static void ask_wide(struct program *p, struct mark *m, const struct insn *list, size_t n)
{
	const struct expected *outermost = &m->level[0][m->nlevels[0] - 1];
	struct typed typed;
	int64_t lowest = list[0].offset;
	struct trace_site *sites = xcalloc(n, sizeof *sites);

	for (size_t i = 0; i < n; i++) {
		lowest = list[i].offset < lowest ? list[i].offset : lowest;
		sites[i] = (struct trace_site){ .object = &p->object, .pc = list[i].pc, .id = ++p->f->nsites, .size_bytes = list[i].size_bytes, .kind = PMT_STORE };
	}
	p->f->base += 1 << 20;
	p->f->seq += n;
	for (size_t i = 0; i < 2 * n; i++) {
		const struct insn *in = &list[i % n];
		uint64_t beyond = (uint64_t)(in->offset - lowest);
		struct trace_event ev = { .seq = p->f->seq - n + 1 + i % n, .site = &sites[i % n], .kind = PMT_STORE, .size_bytes = in->size_bytes,
					  .addr = PMT_ADDR(1, p->f->base + outermost->offset + beyond) };

		if (i < n) {
			types_learn(p->types, &ev);
			continue;
		}
		types_of(p->types, &ev, &typed);
		p->ntried++;
		if (is_as_expected(p, m, 0, ev.addr - beyond, &typed)) {
			m->is_seen[0] = true;
			p->nright++;
		} else {
			complain(p, m, &typed, ev.addr);
		}
	}
	free(sites);
}

/* The store that a function of the program makes, or the call that it makes to have it done. */
static const struct insn *first_in(struct program *p, uint64_t target)
{
	for (size_t f = 0; f < p->functions.n; f++)
		for (size_t i = 0; target && i < p->insns.n && p->functions.at[f].start == target; i++)
			if (p->insns.at[i].pc >= target && p->insns.at[i].pc < p->functions.at[f].end)
				return &p->insns.at[i];
	return NULL;
}

static void ask_call(struct program *p, struct mark *m, const struct insn *call)
{
	const struct insn *in = first_in(p, call->target);
	struct trace_node outer = { .object = &p->object, .pc = call->end }, inner;

	if (!in || !in->is_call) {
		ask(p, m, in ? &p->object : NULL, in ? in->pc : 1, in ? in->size_bytes : 4, &outer);
		return;
	}
	inner = (struct trace_node){ .parent = &outer, .object = &p->object, .pc = in->end };
	ask(p, m, NULL, 1, 4, &inner);
}

static void ask_about(struct program *p, size_t *at)
{
	const struct insn *in = &p->insns.at[*at];
	const struct symbol *list, *next;
	size_t n = symbols_find(p->f->symbols, &p->object, in->pc, false, &list), end = *at + 1;
	struct mark *m = mark_at(p, &list[0]);

	for (size_t i = 1; i < n && !(m && m->how == MARK_DIRECT); i++) {
		struct mark *outer = mark_at(p, &list[i]);

		if (outer && outer->how == MARK_INLINED && in->size_bytes)
			m = outer;
	}
	if (!m || m->how == MARK_CALLED)
		return;
	if (m->how == MARK_CALL) {
		if (in->is_call)
			ask_call(p, m, in);
	} else if (m->how == MARK_WIDE && in->size_bytes) {
		while (end < p->insns.n && p->insns.at[end].size_bytes && symbols_find(p->f->symbols, &p->object, p->insns.at[end].pc, false, &next) &&
		       next[0].line == list[0].line)
			end++;
		ask_wide(p, m, in, end - *at);
		*at = end - 1;
	} else if (in->size_bytes) {
		ask(p, m, &p->object, in->pc, in->size_bytes, NULL);
	}
}

/* ---- tests ---- */

static const char *folder_of(const char *variable, const char *otherwise)
{
	const char *value = getenv(variable);

	return value ? value : otherwise;
}

/* compile_commands.json for the two sources. */
static void write_database(const char *folder)
{
	static const char *const sources[] = { "tests/types/forms.c", "tests/types/forms_cxx.cpp" };
	const char *sysroot = folder_of("PMEND_TEST_SYSROOT", "/");
	char *path = xasprintf("%s/compile_commands.json", folder), here[512];
	FILE *f;

	assert_non_null(getcwd(here, sizeof here));
	f = fopen(path, "w");
	assert_non_null(f);
	for (unsigned i = 0; i < 2; i++)
		fprintf(f, "%c{\"directory\": \"%s\", \"file\": \"%s\", \"arguments\": [\"cc\", \"--target=x86_64-linux-gnu\", \"--sysroot=%s\", \"-c\", \"%s\"]}",
			i ? ',' : '[', here, sources[i], sysroot, sources[i]);
	fprintf(f, "]\n");
	fclose(f);
	free(path);
}

static int set_up(void **state)
{
	struct fixture *f = xcalloc(1, sizeof *f);
	struct types_options with = { f->folder, folder_of("PMEND_TEST_LIBEXEC", "build/libexec/pmend") }, without = { NULL, NULL };

	snprintf(f->folder, sizeof f->folder, "/tmp/pmend-types-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	write_database(f->folder);
	f->symbols = symbols_new();
	f->by_source = types_new(&with, f->symbols);
	f->by_dwarf = types_new(&without, f->symbols);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	char *database = xasprintf("%s/compile_commands.json", f->folder);

	unlink(database);
	rmdir(f->folder);
	free(database);
	types_free(f->by_source);
	types_free(f->by_dwarf);
	symbols_free(f->symbols);
	free(f);
	return 0;
}

static struct program *program_run(struct fixture *f, const char *name, bool with_sources)
{
	struct program *p = xcalloc(1, sizeof *p);

	snprintf(p->path, sizeof p->path, "%s/%s", folder_of("PMEND_TEST_TYPES", "build/tests/types"), name);
	snprintf(p->source, sizeof p->source, "tests/types/%s", strstr(name, "cxx") ? "forms_cxx.cpp" : "forms.c");
	p->is_optimised = strstr(name, "O2") != NULL;
	p->is_strict = with_sources;
	p->f = f;
	p->types = with_sources ? f->by_source : f->by_dwarf;
	read_marks(p);
	read_code(p);
	for (size_t i = 0; i < p->insns.n; i++)
		ask_about(p, &i);
	if (types_problem(p->types))
		fail_msg("%s", types_problem(p->types));
	return p;
}

static void program_free(struct program *p)
{
	vec_release(&p->insns);
	vec_release(&p->functions);
	free(p);
}

/* Without optimisation, every form is there. */
static void check_all_seen(const struct program *p)
{
	unsigned nmissing = 0;

	for (unsigned i = 0; i < p->nmarks; i++)
		for (unsigned n = 0; n < p->marks[i].n; n++)
			if (!p->marks[i].is_seen[n] && !p->marks[i].is_optional[n]) {
				fprintf(stderr, "%s:%u: %s %s was not found\n", p->source, p->marks[i].line, p->marks[i].level[n][0].type,
					p->marks[i].level[n][0].field);
				nmissing++;
			}
	assert_int_equal(nmissing, 0);
}

static void test_source(void **state, const char *name, unsigned at_least)
{
	struct program *p = program_run(*state, name, true);

	fprintf(stderr, "%s: %u of %u right\n", name, p->nright, p->ntried);
	assert_int_equal(p->nwrong, 0);
	if (!p->is_optimised)
		check_all_seen(p);
	assert_true(p->nright >= at_least);
	program_free(p);
}

/* Without sources, fewer are typed, but few are typed wrongly: what was cast, and outer structs of what a caller passed. */
static void test_dwarf(void **state, const char *name, unsigned at_least, unsigned wrong_at_most)
{
	struct program *p = program_run(*state, name, false);

	fprintf(stderr, "%s without sources: %u of %u right, %u wrong\n", name, p->nright, p->ntried, p->nwrong);
	assert_true(p->nright >= at_least);
	assert_true(p->nwrong <= wrong_at_most);
	program_free(p);
}

static void gcc_plain(void **state) { test_source(state, "forms-gcc-O0", 55); }
static void gcc_optimised(void **state) { test_source(state, "forms-gcc-O2", 40); }
static void clang_plain(void **state) { test_source(state, "forms-clang-O0", 55); }
static void clang_optimised(void **state) { test_source(state, "forms-clang-O2", 40); }
static void cxx_plain(void **state) { test_source(state, "forms_cxx-O0", 12); }
static void cxx_optimised(void **state) { test_source(state, "forms_cxx-O2", 8); }
static void gcc_plain_dwarf(void **state) { test_dwarf(state, "forms-gcc-O0", 40, 6); }
static void gcc_optimised_dwarf(void **state) { test_dwarf(state, "forms-gcc-O2", 30, 6); }
static void clang_plain_dwarf(void **state) { test_dwarf(state, "forms-clang-O0", 40, 6); }
static void cxx_dwarf(void **state) { test_dwarf(state, "forms_cxx-O0", 10, 2); }

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gcc_plain), cmocka_unit_test(gcc_optimised), cmocka_unit_test(clang_plain), cmocka_unit_test(clang_optimised),
		cmocka_unit_test(cxx_plain), cmocka_unit_test(cxx_optimised), cmocka_unit_test(gcc_plain_dwarf), cmocka_unit_test(gcc_optimised_dwarf),
		cmocka_unit_test(clang_plain_dwarf), cmocka_unit_test(cxx_dwarf),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
