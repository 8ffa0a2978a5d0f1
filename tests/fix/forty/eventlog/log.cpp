#include "log.hpp"

#include <cstring>
#include <stdexcept>

namespace evlog {

Log::Log(Region &region, std::size_t offset)
	: header_(region.at<Header>(offset)), data_(region.at<char>(offset + sizeof(Header)))
{
}

std::size_t Log::recordSize(std::size_t length)
{
	return (sizeof(Record) + length + 7) & ~std::size_t(7);
}

std::uint32_t Log::checksum(const char *text, std::size_t length)
{
	std::uint32_t hash = 2166136261u;
	for (std::size_t i = 0; i < length; i++)
		hash = (hash ^ static_cast<unsigned char>(text[i])) * 16777619u;
	return hash;
}

Log::Record *Log::record(unsigned half, std::size_t position) const
{
	return reinterpret_cast<Record *>(data_ + half * kHalf + position);
}

/// Writes a record behind the tail, and starts to write it back. Returns the
/// position of the next one.
std::size_t Log::put(unsigned half, std::size_t position, const std::string &text)
{
	const std::size_t size = recordSize(text.size());
	if (position + size > kHalf)
		throw std::length_error("the log is full");

	Record *r = record(half, position);
	r->length = static_cast<std::uint32_t>(text.size());
	r->checksum = checksum(text.data(), text.size());
	std::memcpy(r->text, text.data(), text.size());
	Region::writeBack(r, size);
	return position + size;
}

/// Makes the records up to here valid. They must be durable.
void Log::commit(unsigned half, std::size_t used)
{
	header_->tail = std::uint64_t(half) << 32 | used;
	Region::persist(&header_->tail, sizeof(header_->tail));
}

void Log::append(const std::string &text)
{
	const std::size_t end = put(half(), used(), text);
	Region::fence();
	commit(half(), end);
}

void Log::appendAll(const std::vector<std::string> &texts)
{
	std::size_t end = used();
	for (const auto &text : texts)
		end = put(half(), end, text);
	Region::fence();
	commit(half(), end);
}

void Log::compact(std::size_t keep)
{
	const auto all = events();
	const unsigned other = 1 - half();
	std::size_t end = 0;

	for (std::size_t i = all.size() > keep ? all.size() - keep : 0; i < all.size(); i++)
		end = put(other, end, all[i]);
	Region::fence();
	commit(other, end);
}

std::vector<std::string> Log::events() const
{
	std::vector<std::string> result;
	std::size_t position = 0;

	while (position < used()) {
		const Record *r = record(half(), position);
		if (r->length > kHalf || position + recordSize(r->length) > used())
			throw std::runtime_error("record at " + std::to_string(position) + ": bad length");
		if (r->checksum != checksum(r->text, r->length))
			throw std::runtime_error("record at " + std::to_string(position) + ": bad checksum");
		result.emplace_back(r->text, r->length);
		position += recordSize(r->length);
	}
	return result;
}

} // namespace evlog
