// persist.hpp - write-back and mapping, the only machine-dependent part of the outbox
#pragma once

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <string>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#pragma GCC target("clwb")
#include <immintrin.h>
#endif

namespace pm {

constexpr std::size_t line_size = 64;

inline void write_back(const void *addr, std::size_t len)
{
	auto p = reinterpret_cast<std::uintptr_t>(addr) & ~(line_size - 1);
	const auto end = reinterpret_cast<std::uintptr_t>(addr) + len;

	for (; p < end; p += line_size) {
#if defined(__aarch64__)
		asm volatile(".arch armv8.2-a\n\tdc cvap, %0" : : "r"(p) : "memory");
#else
		_mm_clwb(reinterpret_cast<void *>(p));
#endif
	}
}

inline void drain()
{
#if defined(__aarch64__)
	asm volatile("dsb ish" : : : "memory");
#else
	_mm_sfence();
#endif
}

template <typename T> void write_back(const T &object)
{
	write_back(&object, sizeof(object));
}

template <typename T> void persist(const T &object)
{
	write_back(object);
	drain();
}

// What is done to an object while a Scope watches it is durable when the Scope ends.
template <typename T> class Scope {
public:
	explicit Scope(const T &object) : object_(object) {}
	~Scope() { persist(object_); }
	Scope(const Scope &) = delete;
	Scope &operator=(const Scope &) = delete;

private:
	const T &object_;
};

// A file that holds one T, mapped for as long as this lives.
template <typename T> class Mapping {
public:
	Mapping(const std::string &path, bool create)
	{
		const int fd = ::open(path.c_str(), create ? O_RDWR | O_CREAT : O_RDWR, 0644);
		struct stat st {};

		if (fd < 0) {
			if (errno == ENOENT && !create)
				return;
			throw std::system_error(errno, std::generic_category(), path);
		}
		if (::fstat(fd, &st) == 0 && st.st_size == 0 && create && ::ftruncate(fd, sizeof(T)) == 0)
			st.st_size = sizeof(T);
		if (st.st_size >= static_cast<off_t>(sizeof(T)))
			base_ = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		::close(fd);
		if (base_ == MAP_FAILED)
			throw std::system_error(errno, std::generic_category(), path);
	}
	~Mapping()
	{
		if (base_)
			::munmap(base_, sizeof(T));
	}
	Mapping(const Mapping &) = delete;
	Mapping &operator=(const Mapping &) = delete;

	explicit operator bool() const { return base_ != nullptr; }
	T *operator->() const { return static_cast<T *>(base_); }

private:
	void *base_ = nullptr;
};

} // namespace pm
