#ifndef LOG_HPP
#define LOG_HPP

#include <string>
#include <vector>

#include "region.hpp"

namespace evlog {

/// An append-only log of events. Records lie one after another; those below
/// the tail are valid.
class Log {
public:
	static constexpr std::size_t kSize = 8192;

	Log(Region &region, std::size_t offset);

	/// Appends one event, which is durable on return.
	void append(const std::string &text);
	/// Appends all events or, after a crash, none.
	void appendAll(const std::vector<std::string> &texts);
	/// Moves the newest records to the front, so that there is room again.
	/// Two halves are used in turn.
	void compact(std::size_t keep);

	/// All events, oldest first. Throws if a record is damaged.
	std::vector<std::string> events() const;

private:
	struct Record {
		std::uint32_t length;
		std::uint32_t checksum;
		char text[];
	};
	/// Where the valid records are: half << 32 | bytes used of it. One word,
	/// because it changes at once.
	struct alignas(kCacheLine) Header {
		std::uint64_t tail;
	};
	static constexpr std::size_t kHalf = (kSize - sizeof(Header)) / 2 & ~(kCacheLine - 1);

	static std::size_t recordSize(std::size_t length);
	static std::uint32_t checksum(const char *text, std::size_t length);
	std::size_t used() const { return header_->tail & 0xffffffff; }
	unsigned half() const { return static_cast<unsigned>(header_->tail >> 32); }
	Record *record(unsigned half, std::size_t position) const;
	std::size_t put(unsigned half, std::size_t position, const std::string &text);
	void commit(unsigned half, std::size_t used);

	Header *header_;
	char *data_;
};

} // namespace evlog

#endif
