// The same of C++: lambdas, which a method knows as a function object.
#include <functional>

#include "tests/fix/fences/pool.h"

struct Cell {
	uint64_t value, changes;
};

static void save(const void *p, size_t n)
{
	for (const char *line = (const char *)((uintptr_t)p & ~(uintptr_t)63); line < (const char *)p + n; line += 64)
		flush_line(line);
	fence();
}

class Cells {
public:
	void change(unsigned i, const std::function<void(Cell &, uint64_t)> &how, uint64_t by)
	{
		Cell &cell = cells_[i];

		how(cell, by);
		/* FIX: save(&cell, sizeof(cell)); */
	}

	void clear(unsigned i)
	{
		cells_[i].value = 0;
		save(&cells_[i].value, sizeof(cells_[i].value));
	}

private:
	alignas(64) Cell cells_[8];
};

int main(int argc, char **argv)
{
	Cells *cells = static_cast<Cells *>(pool_open(argv[1]));
	uint64_t seen = 0;
	int kind;

	if (argc > 2)
		return 0;
	while ((kind = asked())) {
		if (kind == 'a')
			cells->change(1, [limit = seen + 9](Cell &cell, uint64_t by) {
				cell.value = cell.value + by > limit ? limit : cell.value + by;
				cell.changes++;
			}, 2);
		else if (kind == 's')
			cells->change(5, [](Cell &cell, uint64_t to) { cell.value = to; }, 7);
		else
			cells->clear(5);
		seen++;
		answer("changed\n");
	}
	return 0;
}
