/* Turns code addresses into functions, files and lines with libdw. Each ELF file is opened once,
 * with its own addresses: a recorded pc becomes a file offset through its mapping, then an address
 * through the program headers, which works for PIE, non-PIE and shared objects alike. Split DWARF
 * without its .dwo files, and code generated at run time, have no symbols. */
#include "trace/symbols.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwelf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <unistd.h>

#include "trace/owner.h"
#include "util/alloc.h"
#include "util/sysroot.h"
#include "util/vec.h"

/* Turns a mangled C++ name into a readable one. libstdc++ contains this function; no C header
 * declares it. */
char *__cxa_demangle(const char *name, char *buffer, size_t *len_bytes, int *status);

/* A loadable segment of an ELF file. */
struct segment {
	uint64_t offset, len_bytes, vaddr;
};

/* An ELF file, and its debug information if it is the recorded file. */
struct module {
	char *path;
	uint8_t build_id[32];
	uint32_t build_id_len;
	VEC(struct segment) segments;
	bool is_static; /* a static program: its libraries are linked into it */
	Dwfl_Callbacks callbacks;
	char *debug_path; /* folders of separate debug files; NULL: libdw's default */
	Dwfl *dwfl;
	Dwfl_Module *dwfl_module; /* NULL if there are no symbols */
};

struct entry {
	const struct module *module; /* NULL if pc was in no object */
	uint64_t pc;
	bool is_return, is_used;
	const struct symbol *list;
	size_t n;
};

struct symbols {
	VEC(struct module *) modules;
	struct entry *cache; /* a hash table with open addressing */
	size_t cache_room, cache_n;
	struct arena arena;
};

/* A lookup of one address. */
struct lookup {
	struct symbols *s;
	const struct module *module;
	uint64_t pc; /* as an address of the ELF file, inside the instruction */
	VEC(struct symbol) list;
};

struct symbols *symbols_new(void)
{
	return xcalloc(1, sizeof(struct symbols));
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->modules.n; i++) {
		struct module *m = s->modules.at[i];

		if (m->dwfl)
			dwfl_end(m->dwfl);
		vec_release(&m->segments);
		free(m->debug_path);
		free(m->path);
		free(m);
	}
	vec_release(&s->modules);
	free(s->cache);
	arena_release(&s->arena);
	free(s);
}

/* ---- opening a module ---- */

static bool has_build_id(Elf *elf, const struct module *m)
{
	const void *id;
	ssize_t len = dwelf_elf_gnu_build_id(elf, &id);

	if (m->build_id_len == 0)
		return true; /* the recording does not know it */
	if (len < (ssize_t)m->build_id_len)
		return false;
	return memcmp(id, m->build_id, m->build_id_len) == 0;
}

/* Asks whether the ELF file is a position-independent program. Only a flag tells it from a shared
 * object. */
static bool is_pie(Elf *elf, const GElf_Phdr *dynamic)
{
	Elf_Data *data =
		elf_getdata_rawchunk(elf, (int64_t)dynamic->p_offset, dynamic->p_filesz, ELF_T_DYN);
	GElf_Dyn d;

	for (int i = 0; data && gelf_getdyn(data, i, &d) && d.d_tag != DT_NULL; i++)
		if (d.d_tag == DT_FLAGS_1)
			return (d.d_un.d_val & DF_1_PIE) != 0;
	return false;
}

static bool read_segments(struct module *m, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool is_right = false, has_loader = false, is_program = false;
	size_t i, n;
	GElf_Ehdr eh;
	GElf_Phdr ph;
	Elf *elf;

	if (fd < 0)
		return false;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ_MMAP, NULL);
	if (elf && elf_kind(elf) == ELF_K_ELF && has_build_id(elf, m) &&
	    elf_getphdrnum(elf, &n) == 0) {
		is_right = true;
		is_program = gelf_getehdr(elf, &eh) && eh.e_type == ET_EXEC;
		for (i = 0; i < n; i++) {
			if (!gelf_getphdr(elf, (int)i, &ph))
				continue;
			has_loader |= ph.p_type == PT_INTERP;
			is_program |= ph.p_type == PT_DYNAMIC && is_pie(elf, &ph);
			if (ph.p_type == PT_LOAD)
				*vec_add(&m->segments) = (struct segment){ .offset = ph.p_offset,
									   .len_bytes = ph.p_filesz,
									   .vaddr = ph.p_vaddr };
		}
		m->is_static = is_program && !has_loader;
	}
	elf_end(elf);
	close(fd);
	return is_right;
}

/* Opens the file's debug information; path is where the file is now. */
static void open_dwfl(struct module *m, const char *path)
{
	m->callbacks = (Dwfl_Callbacks){
		.find_elf = dwfl_build_id_find_elf,
		.find_debuginfo = dwfl_standard_find_debuginfo,
		.section_address = dwfl_offline_section_address,
	};
	if (sysroot()) {
		m->debug_path = xasprintf(":.debug:%s/usr/lib/debug:/usr/lib/debug", sysroot());
		m->callbacks.debuginfo_path = &m->debug_path;
	}
	m->dwfl = dwfl_begin(&m->callbacks);
	if (!m->dwfl)
		return;
	dwfl_report_begin(m->dwfl);
	m->dwfl_module = dwfl_report_elf(m->dwfl, m->path, path, -1, 0, true);
	if (dwfl_report_end(m->dwfl, NULL, NULL) != 0)
		m->dwfl_module = NULL;
}

static struct module *get_module(struct symbols *s, const struct trace_object *object)
{
	struct module *m;
	char *path;

	for (size_t i = 0; i < s->modules.n; i++) {
		m = s->modules.at[i];
		if (m->build_id_len == object->build_id_len &&
		    memcmp(m->build_id, object->build_id, m->build_id_len) == 0 &&
		    strcmp(m->path, object->path) == 0)
			return m;
	}
	m = xcalloc(1, sizeof *m);
	m->path = xstrdup(object->path);
	m->build_id_len = object->build_id_len;
	memcpy(m->build_id, object->build_id, sizeof m->build_id);
	path = sysroot_path(m->path);
	if (read_segments(m, path))
		open_dwfl(m, path);
	free(path);
	*vec_add(&s->modules) = m;
	return m;
}

/* Turns an address of the recorded process into one of the ELF file. Gives the file offset if no
 * segment contains it. */
static uint64_t file_address(const struct module *m, const struct trace_object *object, uint64_t pc)
{
	uint64_t offset = pc - object->va + object->offset;

	for (size_t i = 0; i < m->segments.n; i++) {
		const struct segment *seg = &m->segments.at[i];

		if (offset >= seg->offset && offset - seg->offset < seg->len_bytes)
			return offset - seg->offset + seg->vaddr;
	}
	return offset;
}

/* ---- names ---- */

/* Gives the length of a Rust name without the hash at its end ("::h" and 16 digits), which changes
 * with the compiler. */
static size_t length_without_hash(const char *name)
{
	const size_t n = strlen(name), hash = 19;

	return n > hash && strncmp(name + n - hash, "::h", 3) == 0 &&
			       strspn(name + n - hash + 3, "0123456789abcdef") == hash - 3
		       ? n - hash
		       : n;
}

static const char *readable_name(struct symbols *s, const char *name)
{
	const char *copy;
	char *demangled;

	if (!name || strncmp(name, "_Z", 2) != 0)
		return name;
	demangled = __cxa_demangle(name, NULL, NULL, NULL);
	if (!demangled)
		return name;
	copy = arena_string(&s->arena, demangled, length_without_hash(demangled));
	free(demangled);
	return copy;
}

static const char *die_name(struct symbols *s, Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ||
	    dwarf_attr_integrate(die, DW_AT_MIPS_linkage_name, &attr))
		name = dwarf_formstring(&attr);
	if (name && strncmp(name, "_Z", 2) == 0)
		return readable_name(s, name);
	return dwarf_attr_integrate(die, DW_AT_name, &attr) ? dwarf_formstring(&attr) : NULL;
}

static uint32_t die_number(Dwarf_Die *die, unsigned name)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	return dwarf_attr(die, name, &attr) && dwarf_formudata(&attr, &value) == 0 ? (uint32_t)value
										   : 0;
}

/* Gives the line where the function is declared or defined. */
static uint32_t die_line(Dwarf_Die *die)
{
	Dwarf_Attribute attr;
	Dwarf_Word line;

	return dwarf_attr_integrate(die, DW_AT_decl_line, &attr) &&
			       dwarf_formudata(&attr, &line) == 0
		       ? (uint32_t)line
		       : 0;
}

static struct symbol *add_symbol(struct lookup *l)
{
	struct symbol *symbol = vec_add(&l->list);

	*symbol = (struct symbol){ .object = l->module->path };
	return symbol;
}

static const char *folder_of(Dwarf_Die *cu)
{
	Dwarf_Attribute attr;

	return dwarf_attr(cu, DW_AT_comp_dir, &attr) ? dwarf_formstring(&attr) : NULL;
}

/* Puts the folder before a relative path of a library, such as "library/std/src/fs.rs", compiled in
 * /usr/src/rustc-1.63.0: only the whole path shows that it is a library. */
static const char *whole_name(struct lookup *l, const char *file, const char *folder)
{
	const char *copy;
	char *whole;

	if (!file || *file == '/' || !folder ||
	    owner_of_code(NULL, NULL, folder, NULL) == OWNER_USER)
		return file;
	whole = xasprintf("%s/%s", folder, file);
	copy = arena_string(&l->s->arena, whole, strlen(whole));
	free(whole);
	return copy;
}

/* Adds the place from which the inlined function die was called. */
static void add_caller(struct lookup *l, Dwarf_Die *cu, Dwarf_Die *die)
{
	struct symbol *caller = add_symbol(l);
	Dwarf_Files *files;
	size_t nfiles;

	caller->folder = folder_of(cu);
	caller->line = die_number(die, DW_AT_call_line);
	caller->column = die_number(die, DW_AT_call_column);
	if (dwarf_getsrcfiles(cu, &files, &nfiles) == 0)
		caller->file = whole_name(
			l, dwarf_filesrc(files, die_number(die, DW_AT_call_file), NULL, NULL),
			caller->folder);
}

static void add_line(struct lookup *l, Dwarf_Die *cu, uint64_t address)
{
	struct symbol *symbol = add_symbol(l);
	Dwarf_Line *line = dwarf_getsrc_die(cu, address);
	int n;

	if (!line)
		return;
	symbol->folder = folder_of(cu);
	symbol->file = whole_name(l, dwarf_linesrc(line, NULL, NULL), symbol->folder);
	if (dwarf_lineno(line, &n) == 0)
		symbol->line = (uint32_t)n;
	if (dwarf_linecol(line, &n) == 0)
		symbol->column = (uint32_t)n;
}

/* Names the functions from the innermost scope outwards. An inlined function completes one symbol
 * and begins that of its caller. */
static void add_scopes(struct lookup *l, Dwarf_Die *cu, Dwarf_Die *scopes, int n)
{
	for (int i = 0; i < n; i++) {
		int tag = dwarf_tag(&scopes[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		l->list.at[l->list.n - 1].function = die_name(l->s, &scopes[i]);
		l->list.at[l->list.n - 1].function_line = die_line(&scopes[i]);
		if (tag == DW_TAG_subprogram)
			return;
		l->list.at[l->list.n - 1].is_inlined = true;
		add_caller(l, cu, &scopes[i]);
	}
}

/* Finds the compilation unit of the address. clang writes no .debug_aranges, so all units may have
 * to be searched. */
static Dwarf_Die *find_cu(Dwfl_Module *mod, uint64_t pc, Dwarf_Addr *bias)
{
	Dwarf_Die *cu = dwfl_module_addrdie(mod, pc, bias);

	if (cu)
		return cu;
	while ((cu = dwfl_module_nextcu(mod, cu, bias)))
		if (dwarf_haspc(cu, pc - *bias) == 1)
			return cu;
	return NULL;
}

/* Asks whether the entry is a namespace or a type. Such an entry has no addresses itself, but may
 * contain functions. */
static bool is_frame_of_functions(Dwarf_Die *die)
{
	int tag = dwarf_tag(die);

	return tag == DW_TAG_namespace || tag == DW_TAG_structure_type ||
	       tag == DW_TAG_class_type || tag == DW_TAG_union_type ||
	       tag == DW_TAG_enumeration_type;
}

/* Finds the innermost entry below die that contains the address. dwarf_getscopes() does not look
 * into namespaces and types, which contain Rust's functions. */
static bool find_innermost(Dwarf_Die *die, Dwarf_Addr pc, Dwarf_Die *found)
{
	Dwarf_Die child;

	if (dwarf_child(die, &child) != 0)
		return false;
	do {
		if (is_frame_of_functions(&child)) {
			if (find_innermost(&child, pc, found))
				return true;
		} else if (dwarf_haspc(&child, pc) == 1) {
			if (!find_innermost(&child, pc, found))
				*found = child;
			return true;
		}
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

static void find_dwarf(struct lookup *l)
{
	Dwarf_Die *containing = NULL, *scopes = NULL, *cu, innermost;
	Dwarf_Addr bias = 0;
	int n;

	cu = find_cu(l->module->dwfl_module, l->pc, &bias);
	if (!cu)
		return;
	add_line(l, cu, l->pc - bias);
	/* dwarf_getscopes() would continue with the scopes around the inlined function's
	 * definition, but we need those of its caller */
	if (dwarf_getscopes(cu, l->pc - bias, &containing) > 0)
		innermost = containing[0];
	else if (!find_innermost(cu, l->pc - bias, &innermost))
		return;
	n = dwarf_getscopes_die(&innermost, &scopes);
	if (n > 0)
		add_scopes(l, cu, scopes, n);
	free(scopes);
	free(containing);
}

static void find_elf_symbol(struct lookup *l)
{
	struct symbol *outermost = &l->list.at[l->list.n - 1];
	GElf_Off offset;
	GElf_Sym sym;

	if (!outermost->function)
		outermost->function =
			readable_name(l->s, dwfl_module_addrinfo(l->module->dwfl_module, l->pc,
								 &offset, &sym, NULL, NULL, NULL));
}

static bool has_lines(const struct module *m)
{
	Dwarf_Addr bias;

	return dwfl_module_nextcu(m->dwfl_module, NULL, &bias) != NULL;
}

/* ---- the cache ---- */

static struct entry *cache_slot(struct symbols *s, const struct module *m, uint64_t pc,
				bool is_return)
{
	size_t i = (size_t)(((pc << 1 | is_return) ^ (uintptr_t)m) * 0x9e3779b97f4a7c15u >> 20) &
		   (s->cache_room - 1);
	struct entry *e = &s->cache[i];

	while (e->is_used && (e->module != m || e->pc != pc || e->is_return != is_return)) {
		i = (i + 1) & (s->cache_room - 1);
		e = &s->cache[i];
	}
	return e;
}

static void cache_grow(struct symbols *s)
{
	struct entry *old = s->cache;
	size_t room = s->cache_room;

	s->cache_room = room ? 2 * room : 256;
	s->cache = xcalloc(s->cache_room, sizeof *s->cache);
	for (size_t i = 0; i < room; i++)
		if (old[i].is_used)
			*cache_slot(s, old[i].module, old[i].pc, old[i].is_return) = old[i];
	free(old);
}

static void find_symbols(struct symbols *s, const struct module *m, uint64_t pc, bool is_return,
			 struct entry *e)
{
	struct lookup l = { .s = s, .module = m, .pc = pc - is_return };
	struct symbol *copy;

	if (m && m->dwfl_module)
		find_dwarf(&l);
	if (l.list.n == 0)
		*vec_add(&l.list) = (struct symbol){ .object = m ? m->path : NULL };
	if (m && m->dwfl_module)
		find_elf_symbol(&l);
	if (m && m->dwfl_module && m->is_static && !l.list.at[0].line)
		l.list.at[0].is_linked_in = has_lines(m);
	copy = arena_alloc(&s->arena, l.list.n * sizeof *copy);
	memcpy(copy, l.list.at, l.list.n * sizeof *copy);
	for (size_t i = 0; i < l.list.n; i++)
		copy[i].offset = pc;
	*e = (struct entry){ .module = m,
			     .pc = pc,
			     .is_return = is_return,
			     .is_used = true,
			     .list = copy,
			     .n = l.list.n };
	vec_release(&l.list);
}

size_t symbols_find(struct symbols *s, const struct trace_object *object, uint64_t pc,
		    bool is_return, const struct symbol **list)
{
	const struct module *m = object ? get_module(s, object) : NULL;
	struct entry *e;

	/* the return address after a segment's last instruction is outside of it */
	if (object)
		pc = file_address(m, object, pc - is_return) + is_return;
	if (2 * (s->cache_n + 1) > s->cache_room)
		cache_grow(s);
	e = cache_slot(s, m, pc, is_return);
	if (!e->is_used) {
		find_symbols(s, m, pc, is_return, e);
		s->cache_n++;
	}
	*list = e->list;
	return e->n;
}

struct Dwfl_Module *symbols_module(struct symbols *s, const struct trace_object *object,
				   uint64_t *pc)
{
	const struct module *m = get_module(s, object);

	*pc = file_address(m, object, *pc);
	return m->dwfl_module;
}
