// shelf.cpp - books, and who has borrowed them: FILE check | FILE (put TITLE | lend TITLE | back TITLE)...
#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "nv.hpp"

template <std::size_t N> struct Text {
	char bytes[N];

	explicit Text(const std::string &s) : bytes{} { std::copy_n(s.begin(), std::min(s.size(), N - 1), bytes); }
	bool operator==(const Text &other) const { return std::equal(bytes, bytes + N, other.bytes); }
};

struct Loans {
	std::uint64_t mark = 0x6c6f616e73; // of a value that is complete
	std::uint64_t count = 0;
	std::uint64_t is_out = 0;
};

using Title = Text<104>;
using Shelf = nv::FlatMap<Title, Loans, 8>;

namespace {

Shelf *open_shelf(const char *path, bool create)
{
	const int fd = ::open(path, create ? O_RDWR | O_CREAT : O_RDWR, 0644);
	struct stat st {};

	if (fd < 0)
		return nullptr;
	if ((create && ::ftruncate(fd, sizeof(Shelf)) != 0) || ::fstat(fd, &st) != 0 || st.st_size < static_cast<off_t>(sizeof(Shelf))) {
		::close(fd);
		return nullptr;
	}
	void *data = ::mmap(nullptr, sizeof(Shelf), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	::close(fd);
	return data == MAP_FAILED ? nullptr : static_cast<Shelf *>(data);
}

bool perform(Shelf &shelf, const std::string &op, const std::string &name)
{
	const Title title(name);

	if (op == "put")
		return shelf.insert(title, Loans());
	if (op == "lend")
		return shelf.modify(title, [](Loans &loans) {
			loans.count++;
			loans.is_out = 1;
		});
	if (op == "back")
		return shelf.modify(title, [](Loans &loans) { loans.is_out = 0; });
	return false;
}

int check(Shelf &shelf)
{
	for (auto &slot : shelf) {
		if (!slot.key.bytes[0] || slot.value.mark != Loans().mark) {
			std::cerr << "shelf: a book is damaged\n";
			return EXIT_FAILURE;
		}
		std::cout << slot.key.bytes << ": " << slot.value.count << (slot.value.is_out ? ", out\n" : "\n");
	}
	return EXIT_SUCCESS;
}

} // namespace

int main(int argc, char **argv)
{
	if (argc < 3) {
		std::cerr << "usage: " << argv[0] << " FILE check | FILE (put TITLE | lend TITLE | back TITLE)...\n";
		return 2;
	}
	const bool is_check = std::string(argv[2]) == "check";
	Shelf *shelf = open_shelf(argv[1], !is_check);

	if (!shelf) {
		std::cout << "nothing there" << std::endl;
		return is_check ? EXIT_SUCCESS : EXIT_FAILURE;
	}
	if (is_check)
		return check(*shelf);
	for (int i = 2; i + 1 < argc; i += 2)
		std::cout << argv[i] << ' ' << argv[i + 1] << (perform(*shelf, argv[i], argv[i + 1]) ? ": done" : ": not possible") << std::endl;
	return EXIT_SUCCESS;
}
