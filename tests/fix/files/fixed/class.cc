// A class that owns its descriptor, has a method that syncs it, and throws.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <system_error>
#include <unistd.h>

static int sync_folder(const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY), result;

	if (fd < 0)
		return -1;
	result = fsync(fd);
	close(fd);
	return result;
}

class Log {
public:
	explicit Log(const char *path) : fd_(::open(path, O_WRONLY | O_CREAT | O_APPEND, 0644))
	{
		if (fd_ < 0)
			throw std::system_error(errno, std::generic_category(), "open");
	}
	~Log() { ::close(fd_); }

	void begin()
	{
		put("begin\n");
		sync();
	}

	void add(const std::string &text)
	{
		put(text);
		++n_;
	}

	unsigned n() const { return n_; }

private:
	void put(const std::string &text)
	{
		if (::write(fd_, text.data(), text.size()) != static_cast<ssize_t>(text.size()))
			throw std::system_error(errno, std::generic_category(), "write");
		sync();
	}

	void sync()
	{
		if (::fsync(fd_) < 0)
			throw std::system_error(errno, std::generic_category(), "fsync");
	}

	int fd_;
	unsigned n_ = 0;
};

int main(int argc, char **argv)
{
	if (argc != 2 || chdir(argv[1]) < 0)
		return 2;
	try {
		Log log("log");

		if (sync_folder(".") < 0)
			return 1;
		log.begin();
		log.add("one\n");
		log.add("two\n");
		std::printf("%u\n", log.n());
	} catch (const std::exception &e) {
		std::fprintf(stderr, "%s\n", e.what());
		return 1;
	}
	return 0;
}
