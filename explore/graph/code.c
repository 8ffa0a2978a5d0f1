/* Answers questions about the machine code of one object: which block or function contains an
 * address, and which address a byte of the file has. */
#include "explore/graph/code.h"

#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <unistd.h>

/* Counts the numbers of a sorted list that are at most `address`. */
static size_t numbers_upto(const uint64_t *at, size_t n, uint64_t address)
{
	size_t low = 0, high = n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (at[middle] <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

uint32_t code_block(const struct code *c, uint64_t address)
{
	/* UINT32_MAX if there is none */
	return (uint32_t)numbers_upto(c->starts.at, c->starts.n, address) - 1;
}

#define AROUND_BYTES 256

void code_function(const struct code *c, uint64_t address, uint64_t *from, uint64_t *to)
{
	size_t n = numbers_upto(c->functions.at, c->functions.n, address);

	*from = n ? c->functions.at[n - 1] : address > AROUND_BYTES ? address - AROUND_BYTES : 0;
	*to = n && n < c->functions.n ? c->functions.at[n] : address + AROUND_BYTES;
}

uint64_t code_address(const char *path, uint64_t offset)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t address = 0;
	GElf_Phdr ph;
	size_t n = 0;
	Elf *elf;

	if (fd < 0)
		return 0;
	elf_version(EV_CURRENT);
	elf = elf_begin(fd, ELF_C_READ, NULL);
	if (elf && elf_getphdrnum(elf, &n) == 0)
		for (size_t i = 0; i < n && !address; i++)
			if (gelf_getphdr(elf, (int)i, &ph) && ph.p_type == PT_LOAD &&
			    offset - ph.p_offset < ph.p_filesz)
				address = ph.p_vaddr + (offset - ph.p_offset);
	if (elf)
		elf_end(elf);
	close(fd);
	return address;
}

void code_release(struct code *c)
{
	vec_release(&c->starts);
	vec_release(&c->functions);
	vec_release(&c->edges);
	vec_release(&c->calls);
	vec_release(&c->pm);
	vec_release(&c->stores);
	vec_release(&c->exports);
	vec_release(&c->names);
}
