#include "topics.hpp"

#include <cstring>
#include <stdexcept>

namespace evlog {

Topics::Topics(Region &region, std::size_t offset) : topics_(region.at<Topic>(offset))
{
}

/// Fills in everything but inUse, durably.
void Topics::Topic::describe(const std::string &newName, const std::string &text)
{
	position = 0;
	std::memset(name, 0, sizeof(name));
	newName.copy(name, sizeof(name) - 1);
	std::memset(description, 0, sizeof(description));
	text.copy(description, sizeof(description) - 1);
	Region::persist(this, sizeof(*this));
}

Topics::Topic *Topics::find(const std::string &name) const
{
	for (unsigned i = 0; i < kMax; i++)
		if (topics_[i].inUse && name == topics_[i].name)
			return &topics_[i];
	return nullptr;
}

bool Topics::add(const std::string &name, const std::string &description)
{
	if (find(name))
		return false;
	for (unsigned i = 0; i < kMax; i++) {
		Topic &topic = topics_[i];
		if (topic.inUse)
			continue;
		topic.describe(name, description);
		topic.inUse = 1;
		Region::persist(&topic.inUse, sizeof(topic.inUse));
		return true;
	}
	return false;
}

bool Topics::seek(const std::string &name, std::uint64_t position)
{
	Topic *topic = find(name);
	if (!topic)
		return false;
	topic->position = position;
	Region::persist(&topic->position, sizeof(topic->position));
	return true;
}

bool Topics::remove(const std::string &name)
{
	Topic *topic = find(name);
	if (!topic)
		return false;
	topic->inUse = 0;
	Region::persist(&topic->inUse, sizeof(topic->inUse));
	return true;
}

void Topics::print(std::ostream &out) const
{
	for (unsigned i = 0; i < kMax; i++) {
		const Topic &topic = topics_[i];
		if (!topic.inUse)
			continue;
		if (!topic.name[0] || !topic.description[0])
			throw std::runtime_error("topic " + std::to_string(i) + " has no name or no description");
		out << "topic " << topic.name << " at " << topic.position << ": " << topic.description << "\n";
	}
}

} // namespace evlog
