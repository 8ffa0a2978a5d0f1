// Calls of libraries that store to what they are given.
#include <algorithm>
#include <libpmem.h>
#include <string>
#include <unistd.h>

struct Card {
	char title[64];
	char body[200];
	long marks[16];

	void name(const std::string &words);
	void mark(long value);
	void load(int fd);
};

void Card::name(const std::string &words)
{
	words.copy(title, sizeof(title)); /* BUG: missing-flush */
}

void Card::mark(long value)
{
	std::fill_n(marks, 16, value); /* BUG: missing-flush */
}

void Card::load(int fd)
{
	ssize_t n;

	n = read(fd, body, sizeof(body)); /* BUG: missing-flush 2 */
	marks[0] = n;
	pmem_persist(&marks[0], sizeof(marks[0]));
}
