/* A class as C++ programs have them for persistent memory: what they assign to is stored, and they persist it later. */
#ifndef ACCESSORS_H
#define ACCESSORS_H

#include <cstdint>

template <typename T> class field {
	volatile T value;

    public:
	field &operator=(const T &v)
	{
		value = v;
		return *this;
	}
};

template <typename T> struct alignas(64) pair {
	T first, second;

	[[gnu::noinline]] void set(T a, T b)
	{
		first = a;
		second = b;
	}
};

class alignas(64) account {
	uint64_t number;
	alignas(64) uint64_t balance;

    public:
	field<uint64_t> limit;

	account(uint64_t n, uint64_t b) : number(n), balance(b)
	{
	}
	void set_balance(uint64_t b)
	{
		balance = b;
	}
};

#endif
