/* The same for C++: see forms.c. */
#include <stdint.h>

namespace store {

struct base {
	uint64_t kind;
	void set_kind(uint64_t k)
	{
		kind = k; /* TYPES: store::base kind 0 | ? store::base kind 0, store::item kind 0, store::table one.kind 64 */
	}
};

class item : public base {
public:
	uint32_t key, value;
	void set(uint32_t k)
	{
		key = k; /* TYPES: store::item key 8 | ? store::item key..value 8, store::table one.key..value 72 */
		this->value = k; /* TYPES: store::item value 12 */
		kind = k; /* TYPES: store::base kind 0, store::item kind 0 */
	}
};

struct left {
	uint64_t x;
};

struct right {
	uint64_t x;
};

struct both : left, right {
	uint64_t y;
};

template <int N> struct ring {
	uint64_t head;
	uint64_t slot[N];
	void put(uint64_t v);
};

template <int N> __attribute__((noinline)) void ring<N>::put(uint64_t v)
{
	slot[N - 1] = v; /* TYPES: store::ring<4> slot[] 32 */
	head += N; /* TYPES: store::ring<4> head 0 */
}

template <class T> struct cell {
	uint64_t tag;
	T content;
	void put(const T &t);
};

template <class T> __attribute__((noinline)) void cell<T>::put(const T &t)
{
	tag = 1; /* TYPES: store::cell<unsigned int> tag 0 */
	content = t; /* TYPES: store::cell<unsigned int> content 8 */
}

struct table {
	cell<uint32_t> cells[4];
	item one;
	uint64_t count;
};

} // namespace store

using namespace store;

void members(table *t, item &it, uint32_t v)
{
	t->one.key = v; /* TYPES: store::item key 8, store::table one.key 72 */
	t->cells[1].content = v; /* TYPES: store::cell<unsigned int> content 8, store::table cells[].content 24 */
	it.value = v; /* TYPES: store::item value 12 */
	it.kind = v; /* TYPES: store::base kind 0, store::item kind 0 */
	static_cast<item *>(static_cast<void *>(t))->key = v; /* TYPES: store::item key 8 */
	reinterpret_cast<cell<uint32_t> &>(it).tag = v; /* TYPES: store::cell<unsigned int> tag 0 */
	auto set = [&] { t->one.value = v; }; /* TYPES: store::item value 12, store::table one.value 76 */
	set();
}

void bases(both *b, uint64_t v)
{
	right *r = b;

	b->y = v; /* TYPES: store::both y 16 | ? store::both store::right..y 8 */
	b->right::x = v; /* TYPES: store::right x 0, store::both x 8 | ? store::both store::right..y 8 | ? store::both store::left..store::right 0 */
	r->x = v; /* TYPES: store::right x 0, store::both x 8 | ? store::right x 0 | ? store::both store::left..store::right 0 */
	static_cast<left *>(b)->x = v; /* TYPES: store::left x 0, store::both x 0 | ? store::both store::left..store::right 0 */
}

void instances(table *t, ring<4> *r)
{
	r->put(1);
	t->cells[0].put(3);
	t->one.set(4);
	t->one.set_kind(5);
	__atomic_store_n(&t->count, 7, __ATOMIC_SEQ_CST); /* TYPES: store::table count 80 */
}
