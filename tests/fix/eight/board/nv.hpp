// nv.hpp - non-volatile memory: write-back, and objects that write back what they edit
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__x86_64__)
#pragma GCC target("clwb")
#include <immintrin.h>
#endif

namespace nv {

constexpr std::size_t line = 64;

inline void persist(const void *address, std::size_t bytes)
{
	auto at = reinterpret_cast<std::uintptr_t>(address) & ~(line - 1);
	const auto end = reinterpret_cast<std::uintptr_t>(address) + bytes;

	for (; at < end; at += line)
#if defined(__aarch64__)
		asm volatile(".arch armv8.2-a\n\tdc cvap, %0" : : "r"(at) : "memory");
	asm volatile("dsb ish" : : : "memory");
#else
		_mm_clwb(reinterpret_cast<void *>(at));
	_mm_sfence();
#endif
}

// Access to an object that shall be changed. What was changed is durable when the Edit ends.
template <typename T> class Edit {
public:
	explicit Edit(T &target) : target_(target) {}
	~Edit() { persist(&target_, sizeof(T)); }
	Edit(const Edit &) = delete;
	Edit &operator=(const Edit &) = delete;
	T *operator->() { return &target_; }
	T &operator*() { return target_; }

private:
	T &target_;
};

template <typename T> class File {
public:
	File(const std::string &path, bool create)
	{
		const int fd = ::open(path.c_str(), create ? O_RDWR | O_CREAT : O_RDWR, 0644);
		struct stat st {};

		if (fd < 0 && !create)
			return;
		if (fd < 0 || ::fstat(fd, &st) != 0 || (create && st.st_size == 0 && ::ftruncate(fd, sizeof(T)) != 0))
			throw std::runtime_error(path + " cannot be opened");
		if (create || st.st_size >= static_cast<off_t>(sizeof(T)))
			data_ = ::mmap(nullptr, sizeof(T), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		::close(fd);
		if (data_ == MAP_FAILED)
			throw std::runtime_error(path + " cannot be mapped");
	}
	~File()
	{
		if (data_)
			::munmap(data_, sizeof(T));
	}
	File(const File &) = delete;
	File &operator=(const File &) = delete;
	T *get() const { return static_cast<T *>(data_); }

private:
	void *data_ = nullptr;
};

} // namespace nv
