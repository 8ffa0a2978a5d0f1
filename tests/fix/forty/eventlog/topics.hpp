#ifndef TOPICS_HPP
#define TOPICS_HPP

#include <ostream>
#include <string>

#include "region.hpp"

namespace evlog {

/// Topics by name, each with a description and the number of a reader's last
/// event.
class Topics {
public:
	static constexpr unsigned kMax = 8;

	Topics(Region &region, std::size_t offset);

	/// Adds a topic. Returns false if there is no room.
	bool add(const std::string &name, const std::string &description);
	/// Notes how far the topic was read. Returns false if there is no such topic.
	bool seek(const std::string &name, std::uint64_t position);
	bool remove(const std::string &name);
	/// Prints all topics. Throws if one is damaged.
	void print(std::ostream &out) const;

	static constexpr std::size_t bytes() { return sizeof(Topic) * kMax; }

private:
	struct alignas(kCacheLine) Topic {
		std::uint64_t inUse;
		std::uint64_t position;
		char name[48];
		char description[128];

		void describe(const std::string &name, const std::string &description);
	};

	Topic *find(const std::string &name) const;

	Topic *topics_;
};

} // namespace evlog

#endif
