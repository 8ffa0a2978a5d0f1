// nv.hpp - non-volatile memory: how it is written back, and a map that lives in it
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__x86_64__)
#pragma GCC target("clwb")
#include <immintrin.h>
#endif

namespace nv {

// A medium that loses what is in the caches.
struct Cached {
	static constexpr std::size_t line = 64;

	static void write_back(const void *address, std::size_t bytes)
	{
		auto at = reinterpret_cast<std::uintptr_t>(address) & ~(line - 1);
		const auto end = reinterpret_cast<std::uintptr_t>(address) + bytes;

		for (; at < end; at += line)
#if defined(__aarch64__)
			asm volatile(".arch armv8.2-a\n\tdc cvap, %0" : : "r"(at) : "memory");
#else
			_mm_clwb(reinterpret_cast<void *>(at));
#endif
	}

	static void fence()
	{
#if defined(__aarch64__)
		asm volatile("dsb ish" : : : "memory");
#else
		_mm_sfence();
#endif
	}

	template <typename T> static void persist(const T &object)
	{
		write_back(&object, sizeof(object));
		fence();
	}
};

// Pairs in the order in which they came. What is behind size() is not there.
template <typename K, typename V, std::size_t N, typename Medium = Cached> class FlatMap {
public:
	struct Slot {
		K key;
		V value;
	};

	bool insert(const K &key, const V &value)
	{
		if (size_ == N || find(key))
			return false;
		Slot &slot = slots_[size_];
		slot.key = key;
		slot.value = value;
		Medium::persist(slot);
		++size_;
		Medium::persist(size_);
		return true;
	}

	// change is given the value; what it does is durable afterwards.
	template <typename F> bool modify(const K &key, F change)
	{
		V *value = find(key);

		if (!value)
			return false;
		change(*value);
		Medium::persist(*value);
		return true;
	}

	V *find(const K &key)
	{
		for (auto &slot : *this)
			if (slot.key == key)
				return &slot.value;
		return nullptr;
	}

	Slot *begin() { return slots_; }
	Slot *end() { return slots_ + size_; }
	std::size_t size() const { return size_; }

private:
	alignas(Medium::line) std::uint64_t size_;
	alignas(Medium::line) Slot slots_[N];
};

} // namespace nv
