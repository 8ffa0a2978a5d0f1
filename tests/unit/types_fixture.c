/* Reads the comments of tests/types/forms*.c and the instructions of the programs built from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "source/insn.h"
#include "tests/unit/types_fixture.h"

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

/* Registers in which compilers keep addresses of the stack: without optimisation, the frame's pointer, too. */
static bool is_on_stack(const struct program *p, const struct insn *in)
{
	return (in->at.base < 0 && in->at.index < 0) || in->at.base == insn_machine.stack || (in->at.base == insn_machine.frame && !p->is_optimised);
}

static void add_instruction(struct program *p, const struct insn *in)
{
	struct step s = { .pc = in->pc, .end = in->pc + in->len_bytes, .is_call = in->does == INSN_CALL };

	if (s.is_call) {
		s.target = in->target;
	} else if (!is_on_stack(p, in)) {
		s.size_bytes = in->stored_bytes;
		s.offset = in->at.offset;
	}
	if (s.is_call || s.size_bytes)
		*vec_add(&p->steps) = s;
}

static void add_function(struct program *p, const char *raw, const GElf_Shdr *text, const GElf_Sym *sym, const char *name)
{
	struct function f = { .start = sym->st_value, .end = sym->st_value + sym->st_size };
	const uint8_t *bytes = (const uint8_t *)raw + (f.start - text->sh_addr + text->sh_offset);
	struct insn in;

	snprintf(f.name, sizeof f.name, "%s", name);
	*vec_add(&p->functions) = f;
	if (strcmp(name, "main") == 0)
		return;
	for (uint64_t pc = f.start; pc < f.end && insn_decode(&in, bytes + (pc - f.start), f.end - pc, pc); pc += in.len_bytes)
		add_instruction(p, &in);
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
	assert_true(p->steps.n > 5);
}

struct mark *mark_at(struct program *p, const struct symbol *s)
{
	const char *name = strrchr(p->source, '/');

	for (unsigned i = 0; s->file && strstr(s->file, name + 1) && i < p->nmarks; i++)
		if (p->marks[i].line == s->line)
			return &p->marks[i];
	return NULL;
}

/* ---- set-up ---- */

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
		fprintf(f, "%c{\"directory\": \"%s\", \"file\": \"%s\", \"arguments\": [\"cc\", \"--sysroot=%s\", \"-c\", \"%s\"]}",
			i ? ',' : '[', here, sources[i], sysroot, sources[i]);
	fprintf(f, "]\n");
	fclose(f);
	free(path);
}

int types_set_up(void **state)
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

int types_tear_down(void **state)
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

struct program *program_open(struct fixture *f, const char *name, bool with_sources)
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
	return p;
}

void program_close(struct program *p)
{
	vec_release(&p->steps);
	vec_release(&p->functions);
	free(p);
}
