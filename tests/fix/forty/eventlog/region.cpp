#include "region.hpp"

#include <cerrno>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace evlog {

Region::Region(const std::string &path, std::size_t size) : base_(nullptr), size_(size)
{
	int fd = ::open(path.c_str(), O_RDWR | O_CREAT, 0644);
	if (fd < 0)
		throw std::system_error(errno, std::generic_category(), path);

	void *addr = MAP_FAILED;
	if (::ftruncate(fd, static_cast<off_t>(size)) == 0)
		addr = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	int error = errno;
	::close(fd);
	if (addr == MAP_FAILED)
		throw std::system_error(error, std::generic_category(), path);
	base_ = static_cast<char *>(addr);
}

Region::~Region()
{
	::munmap(base_, size_);
}

void Region::writeBack(const void *addr, std::size_t len)
{
	auto line = reinterpret_cast<std::uintptr_t>(addr) & ~(kCacheLine - 1);
	const auto end = reinterpret_cast<std::uintptr_t>(addr) + len;

	for (; line < end; line += kCacheLine) {
#if defined(__aarch64__)
		asm volatile(".arch armv8.2-a\n\tdc cvap, %0" : : "r"(line) : "memory");
#else
		asm volatile("clwb %0" : "+m"(*reinterpret_cast<volatile char *>(line)) : : "memory");
#endif
	}
}

void Region::fence()
{
#if defined(__aarch64__)
	asm volatile("dsb ish" : : : "memory");
#else
	asm volatile("sfence" : : : "memory");
#endif
}

} // namespace evlog
