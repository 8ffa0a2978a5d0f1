// evlog POOL        serves requests from standard input
// evlog POOL dump   verifies the pool and prints it
#include <exception>
#include <iostream>
#include <sstream>

#include <unistd.h>

#include "log.hpp"
#include "topics.hpp"

using namespace evlog;

namespace {

/// Standard input a line at a time: nothing of the next request is read early.
bool readLine(std::string &line)
{
	char c;

	line.clear();
	while (::read(STDIN_FILENO, &c, 1) == 1) {
		if (c == '\n')
			return true;
		line += c;
	}
	return false;
}

class Session {
public:
	Session(Log &log, Topics &topics) : log_(log), topics_(topics) {}

	void serve()
	{
		std::string line;
		while (readLine(line))
			std::cout << handle(line) << std::endl;
	}

private:
	std::string handle(const std::string &line)
	{
		std::istringstream in(line);
		std::string verb, name, rest;

		in >> verb;
		if (verb == "event" && std::getline(in >> std::ws, rest)) {
			log_.append(rest);
			return "logged";
		}
		if (verb == "events") {
			std::vector<std::string> texts;
			while (std::getline(in >> std::ws, rest, ';'))
				texts.push_back(rest);
			log_.appendAll(texts);
			return "logged " + std::to_string(texts.size());
		}
		if (verb == "compact") {
			std::size_t keep = 0;
			in >> keep;
			log_.compact(keep);
			return "compacted";
		}
		in >> name;
		if (verb == "topic" && std::getline(in >> std::ws, rest))
			return topics_.add(name, rest) ? "added" : "refused";
		if (verb == "seek") {
			std::uint64_t position = 0;
			in >> position;
			return topics_.seek(name, position) ? "ok" : "no such topic";
		}
		if (verb == "drop")
			return topics_.remove(name) ? "dropped" : "no such topic";
		return "what?";
	}

	Log &log_;
	Topics &topics_;
};

} // namespace

int main(int argc, char **argv)
{
	if (argc < 2) {
		std::cerr << "usage: evlog POOL [dump]\n";
		return 2;
	}
	try {
		// A new pool is all zeroes, which is an empty log without topics.
		Region region(argv[1], Log::kSize + Topics::bytes());
		Log log(region, 0);
		Topics topics(region, Log::kSize);

		if (argc > 2) {
			for (const auto &event : log.events())
				std::cout << event << "\n";
			topics.print(std::cout);
			return 0;
		}
		Session(log, topics).serve();
	} catch (const std::exception &e) {
		std::cerr << "evlog: " << e.what() << "\n";
		return 1;
	}
	return 0;
}
