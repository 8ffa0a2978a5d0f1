/* Writes the executable mappings of ELF files to the trace, with their build-ids, so that code
 * addresses can be translated to source lines later, also on another machine. */
#include "valgrind/recorder/objects.h"

#include "valgrind/common/sys.h"
#include "valgrind/recorder/out/out.h"
#include "valgrind/recorder/place/code.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcfile.h"

struct object {
	Addr va;
	SizeT len_bytes;
};
static struct object *g_objects;
static UInt g_nobjects, g_objects_cap;

#define BUILD_ID_MAX 32

struct elf_header { /* 64-bit */
	UChar ident[16];
	UShort type, machine;
	UInt version;
	ULong entry, phoff, shoff;
	UInt flags;
	UShort ehsize, phentsize, phnum;
};

struct elf_program_header {
	UInt type, flags;
	ULong offset, vaddr, paddr, filesz, memsz, align;
};

/* Finds the GNU build-id among the notes; 0 bytes if there is none. */
static UInt notes_build_id(const UChar *notes, UInt len, UChar *id)
{
	UInt at = 0;

	while (at + 12 <= len) {
		UInt namesz, descsz, type, desc;

		VG_(memcpy)(&namesz, notes + at, 4);
		VG_(memcpy)(&descsz, notes + at + 4, 4);
		VG_(memcpy)(&type, notes + at + 8, 4);
		if (namesz > len || descsz > len)
			return 0;
		desc = at + 12 + ((namesz + 3) & ~3u);
		if (desc + descsz > len)
			return 0;
		if (type == 3 && namesz == 4 && VG_(memcmp)(notes + at + 12, "GNU", 4) == 0 &&
		    descsz <= BUILD_ID_MAX) {
			VG_(memcpy)(id, notes + desc, descsz);
			return descsz;
		}
		at = desc + ((descsz + 3) & ~3u);
	}
	return 0;
}

static UInt file_build_id(const HChar *path, UChar *id)
{
	static UChar notes[2048];
	struct elf_header h;
	UInt len = 0;
	SysRes r = VG_(open)(path, VKI_O_RDONLY, 0);
	Int fd;

	if (sr_isError(r))
		return 0;
	fd = sr_Res(r);
	if (sys_pread(fd, &h, sizeof h, 0) != (Long)sizeof h ||
	    VG_(memcmp)(h.ident, "\177ELF", 4) != 0)
		h.phnum = 0;
	for (UInt i = 0; i < h.phnum && len == 0; i++) {
		struct elf_program_header p;
		Long n;

		if (sys_pread(fd, &p, sizeof p, h.phoff + (ULong)i * h.phentsize) != (Long)sizeof p)
			break;
		if (p.type != 4 /* PT_NOTE */)
			continue;
		n = sys_pread(fd, notes, p.filesz < sizeof notes ? p.filesz : sizeof notes,
			      p.offset);
		if (n > 0)
			len = notes_build_id(notes, n, id);
	}
	VG_(close)(fd);
	return len;
}

void objects_mapped(Addr a, SizeT len, Bool can_exec)
{
	const NSegment *seg = can_exec ? VG_(am_find_nsegment)(a) : NULL;
	const HChar *path = seg != NULL ? VG_(am_get_filename)(seg) : NULL;
	UChar id[BUILD_ID_MAX];
	UInt id_len;

	if (path == NULL || path[0] != '/')
		return;
	id_len = file_build_id(path, id);
	out_object(a, len, seg->offset + (a - seg->start), id, id_len, path);
	if (g_nobjects == g_objects_cap) {
		g_objects_cap = g_objects_cap ? 2 * g_objects_cap : 32;
		g_objects =
			VG_(realloc)("pmend.objects", g_objects, g_objects_cap * sizeof *g_objects);
	}
	g_objects[g_nobjects++] = (struct object){ a, len };
}

void objects_unmapped(Addr a, SizeT len)
{
	Bool any = False;

	for (UInt i = g_nobjects; i-- > 0;) {
		struct object *o = &g_objects[i];

		if (o->va < a + len && a < o->va + o->len_bytes) {
			out_object_gone(o->va, o->len_bytes);
			*o = g_objects[--g_nobjects];
			any = True;
		}
	}
	if (any)
		code_forget();
}
