// C++: constructors, methods, templates, references.
#include <cstddef>
#include <cstdint>

void pm_persist(const void *addr, std::size_t len);

namespace store {

struct item {
	uint64_t key, value;

	explicit item(uint64_t k)
	{
		key = k; /* BUG: missing-flush-fence */
		this->value = 0; /* BUG: missing-flush-fence */
	}

	void set(uint64_t v) { value = v; } /* BUG: missing-flush-fence */
};

void assign(item &i, uint64_t v);
void assign(item &i, uint64_t v)
{
	if (v)
		i.value = v; /* BUG: missing-flush-fence */
}

} // namespace store
