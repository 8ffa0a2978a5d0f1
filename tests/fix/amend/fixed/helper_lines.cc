// A helper that counts lines from the address on; the object's own method calls it.
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace store {

constexpr std::size_t kLine = 64;

class Memory {
public:
	static void clean(const void *address, std::size_t bytes)
	{
		const char *at = reinterpret_cast<const char *>(reinterpret_cast<std::uintptr_t>(address) & ~(std::uintptr_t)(kLine - 1));

		bytes += static_cast<const char *>(address) - at;
		for (std::size_t i = 0; i < (bytes + kLine - 1) / kLine; i++)
			__asm__ volatile("clwb %0" : : "m"(at[i * kLine]));
		__asm__ volatile("sfence" : : : "memory");
	}
};

struct Record {
	std::uint64_t id;
	char text[120];

	void write(const char *words);
};

void Record::write(const char *words)
{
	id++;
	std::strcpy(text, words); /* BUG: missing-flush */
	Memory::clean(this, sizeof(*this));
}

} // namespace store
