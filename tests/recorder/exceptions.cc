/* C++: stacks while exceptions unwind, demangled names, inlined member functions. Built with -O0 and -O2. */
#include "tests/recorder/expect.h"

#include <stdexcept>
#include <string>
#include <thread>

#define NOINLINE __attribute__((noinline, noclone))
#define KEEP_FRAME() __asm__ volatile("")

typedef volatile uint64_t vu64;

static vu64 *pm;

namespace persistent
{

template <typename T> struct Box {
	T value;

	NOINLINE void put(T v)
	{
		STORE_CHAIN(&value, sizeof(T), "persistent::Box<long>::put(long) < *", *(volatile T *)&value = v);
		KEEP_FRAME();
	}

	__attribute__((always_inline)) inline void put_inline(T v)
	{
		STORE_CHAIN(&value, sizeof(T), "persistent::Box<long>::put_inline(long)~ < uses_box(persistent::Box<long>*) < main", *(volatile T *)&value = v);
	}
};

} // namespace persistent

NOINLINE void leaf(const char *chain)
{
	STORE_CHAIN(pm, 8, chain, pm[0] = pm[0] + 1);
	KEEP_FRAME();
}

NOINLINE void uses_box(persistent::Box<long> *box)
{
	box->put(7);
	box->put_inline(8);
	KEEP_FRAME();
}

/* Stores when it is destroyed, that is while the exception passes. */
struct Guard {
	const char *chain;

	explicit Guard(const char *c) : chain(c)
	{
	}
	NOINLINE ~Guard()
	{
		leaf(chain);
		KEEP_FRAME();
	}
};

NOINLINE void throws(int depth)
{
	leaf("leaf(char const*) < throws(int) < * < catches() < main");
	if (depth == 0)
		throw std::runtime_error("out");
	throws(depth - 1);
	KEEP_FRAME();
}

NOINLINE void guarded(void)
{
	Guard guard("leaf(char const*) < Guard::~Guard() < guarded() < passes() < catches() < main");

	throws(4);
	KEEP_FRAME();
}

NOINLINE void passes(void)
{
	try {
		guarded();
	} catch (std::runtime_error &e) {
		leaf("leaf(char const*) < passes() < catches() < main");
		throw; /* on to the next */
	}
}

NOINLINE void catches(void)
{
	for (int i = 0; i < 3; i++) {
		try {
			passes();
		} catch (std::exception &e) {
			leaf("leaf(char const*) < catches() < main");
			try {
				throw std::string("inside a handler");
			} catch (std::string &s) {
				leaf("leaf(char const*) < catches() < main");
			}
		}
		leaf("leaf(char const*) < catches() < main");
	}
	KEEP_FRAME();
}

NOINLINE void throws_in_thread(void)
{
	throw 5;
}

NOINLINE void thread_body(void)
{
	try {
		throws_in_thread();
	} catch (int) {
		leaf("leaf(char const*) < thread_body() < *");
	}
	KEEP_FRAME();
}

NOINLINE void in_thread(void)
{
	std::thread t(thread_body);

	t.join();
	leaf("leaf(char const*) < in_thread() < main");
	KEEP_FRAME();
}

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	pm = (vu64 *)pool_map(pool_path(argv[1], "pool"), 4096);
	uses_box((persistent::Box<long> *)(pm + 8));
	catches();
	in_thread();
	leaf("leaf(char const*) < main");
	return 0;
}
