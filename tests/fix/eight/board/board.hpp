// board.hpp - the board of an exchange: what is listed, at which price, and whether it is halted
#pragma once

#include <cstdint>
#include <ostream>
#include <string>

#include "nv.hpp"

struct alignas(nv::line) Price {
	std::uint64_t bid;
	std::uint64_t ask;
	std::uint64_t sum; // of both
};

struct Listing {
	alignas(nv::line) char symbol[16];
	alignas(nv::line) std::uint64_t current; // the price that counts
	alignas(nv::line) std::uint64_t halts;
	Price prices[2];
};

class Board {
public:
	static constexpr std::uint64_t capacity = 8;

	bool add(const std::string &symbol, std::ostream &out);
	bool quote(const std::string &symbol, std::uint64_t bid, std::uint64_t ask, std::ostream &out);
	bool halt(const std::string &symbol, std::ostream &out);
	bool check(std::ostream &out, std::ostream &err) const;

private:
	Listing *find(const std::string &symbol);

	alignas(nv::line) std::uint64_t count_;
	Listing listings_[capacity];
};
