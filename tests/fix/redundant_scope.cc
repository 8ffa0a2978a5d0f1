// Objects that wrote it back when they ended make a flush redundant; those that have not ended yet, or ended before a store, do not.
#include <cstddef>
#include <cstdint>
#include <libpmem.h>

namespace pm {

template <typename T> void save(const T &what)
{
	pmem_persist(&what, sizeof(what));
}

template <typename T> class Watch {
public:
	explicit Watch(const T &what) : what_(what) {}
	~Watch() { save(what_); }

private:
	const T &what_;
};

template <typename T> class Begin { // without a fence
public:
	explicit Begin(const T &what) : what_(what) {}
	~Begin() { pmem_flush(&what_, sizeof(what_)); }

private:
	const T &what_;
};

} // namespace pm

struct alignas(64) Sum {
	std::uint64_t in, out;
};

void ended(Sum &s)
{
	{
		pm::Watch guard(s);
		s.in = 1;
		s.out = 2;
	}
	pm::save(s); /* BUG: flush-clean */
}

void goes_on(Sum &s)
{
	pm::Watch guard(s);
	s.in = 1;
	pm::save(s); /* BUG: flush-clean, suggested: the store in line 50 */
	s.out = 2;
}

void stored_since(Sum &s)
{
	{
		pm::Watch guard(s);
		s.in = 1;
	}
	s.out = 2;
	pm::save(s); /* BUG: flush-clean, suggested: the store in line 61 */
}

void left_early(Sum &s, int n)
{
	pmem_drain();
	for (int i = 0; i < n; i++) {
		pm::Begin guard(s);
		s.in = 1;
		if (n > 3)
			break;
	}
	pmem_drain(); /* BUG: redundant-fence, suggested: may need it */
}

int main(int argc, char **argv)
{
	Sum *s = static_cast<Sum *>(pmem_map_file(argv[1], 4096, PMEM_FILE_CREATE, 0600, nullptr, nullptr));

	ended(*s);
	goes_on(*s);
	stored_since(*s);
	left_early(*s, argc);
	return 0;
}
