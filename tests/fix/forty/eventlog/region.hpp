#ifndef REGION_HPP
#define REGION_HPP

#include <cstddef>
#include <cstdint>
#include <string>

namespace evlog {

constexpr std::size_t kCacheLine = 64;

/// A file mapped from persistent memory.
class Region {
public:
	Region(const std::string &path, std::size_t size);
	~Region();
	Region(const Region &) = delete;
	Region &operator=(const Region &) = delete;

	template <typename T>
	T *at(std::size_t offset) const { return reinterpret_cast<T *>(base_ + offset); }

	/// Starts to write back what is in [addr, addr + len).
	static void writeBack(const void *addr, std::size_t len);
	/// Waits for everything that was written back.
	static void fence();

	static void persist(const void *addr, std::size_t len)
	{
		writeBack(addr, len);
		fence();
	}

private:
	char *base_;
	std::size_t size_;
};

} // namespace evlog

#endif
