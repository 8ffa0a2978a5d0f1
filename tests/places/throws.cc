// What plain does, by functions that leave by exceptions: through frames that hold PM, out of destructors' scopes that store to it, and out of a thread.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define _Alignas alignas
#include "pool.h"

namespace {

struct wrong : std::runtime_error {
	int status;
	explicit wrong(int s) : std::runtime_error("wrong: " + std::to_string(s)), status(s) {}
};

// Its destructor does the second half, while an exception is on its way.
struct second_half {
	struct pool *p;
	explicit second_half(struct pool *pool) : p(pool) {}
	~second_half() { pool_second(p); }
};

void write(struct pool *p)
{
	try {
		second_half rest(p);
		pool_first(p);
		if (p->count == POOL_RECORDS / 2) // read from PM
			throw std::runtime_error("half of it");
	} catch (const std::runtime_error &) {
	}
}

// Each record that is right is an exception, too.
void check(const volatile struct pool *p, uint64_t i)
{
	try {
		if (i < p->count)
			throw static_cast<int>(i);
	} catch (int number) {
		check(p, static_cast<uint64_t>(number) + 1);
		return;
	}
	if (int status = pool_wrong(p))
		throw wrong(status);
}

}

int main(int argc, char **argv)
{
	const bool is_check = argc == 3 && std::strcmp(argv[1], "check") == 0;
	struct stat st;

	if (argc != 3)
		return 2;
	const int fd = open(argv[2], is_check ? O_RDWR : O_RDWR | O_CREAT, 0644);
	if (fd < 0 && is_check && errno == ENOENT)
		return 0;
	if (fd < 0 || (!is_check && ftruncate(fd, POOL_BYTES) < 0) || fstat(fd, &st) < 0)
		return std::perror(argv[2]), 2;
	if (st.st_size < static_cast<off_t>(sizeof(struct pool)))
		return 0;
	void *p = mmap(nullptr, static_cast<size_t>(st.st_size), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		return std::perror("mmap"), 2;
	if (!is_check) {
		write(static_cast<struct pool *>(p));
		return 0;
	}
	std::exception_ptr failure;
	std::thread thread([&] {
		try {
			check(static_cast<struct pool *>(p), 0);
		} catch (...) {
			failure = std::current_exception();
		}
	});
	thread.join();
	try {
		if (failure)
			std::rethrow_exception(failure);
	} catch (const wrong &w) {
		return w.status;
	}
	return 0;
}
