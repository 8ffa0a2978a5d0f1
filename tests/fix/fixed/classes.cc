// C++: constructors, methods, templates, references.
#include <atomic>
#include <cstddef>
#include <cstdint>

void pm_persist(const void *addr, std::size_t len);

namespace store {

struct item {
	uint64_t key, value;

	explicit item(uint64_t k)
	{
		key = k; /* BUG: missing-flush-fence */
		pm_persist(&key, sizeof key);
		this->value = 0; /* BUG: missing-flush-fence */
		pm_persist(&this->value, sizeof this->value);
	}

	void set(uint64_t v) { value = v; pm_persist(&value, sizeof value); } /* BUG: missing-flush-fence */
};

void assign(item &i, uint64_t v);
void assign(item &i, uint64_t v)
{
	if (v) {
		i.value = v; /* BUG: missing-flush-fence */
		pm_persist(&i.value, sizeof i.value);
	}
}

void refer(item *i, uint64_t (&all)[4]);
void refer(item *i, uint64_t (&all)[4])
{
	auto &key = i->key;

	key = 3; /* BUG: missing-flush-fence */
	pm_persist(&key, sizeof key);
	for (auto &one : all) {
		one = key; /* BUG: missing-flush-fence */
		pm_persist(&one, sizeof one);
	}
}

void atomics(std::atomic<uint64_t> *all);
void atomics(std::atomic<uint64_t> *all)
{
	all[1] = 2; /* BUG: missing-flush-fence */
	pm_persist(&all[1], sizeof all[1]);
	(*all)++; /* BUG: missing-flush-fence */
	pm_persist(&(*all), sizeof((*all)));
}

} // namespace store
