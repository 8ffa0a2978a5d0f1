// board.cpp - FILE check | FILE (add SYMBOL | quote SYMBOL BID ASK | halt SYMBOL)...
#include "board.hpp"

#include <cstring>
#include <iostream>

using nv::Edit;

Listing *Board::find(const std::string &symbol)
{
	for (std::uint64_t i = 0; i < count_; i++)
		if (symbol == listings_[i].symbol)
			return &listings_[i];
	return nullptr;
}

bool Board::add(const std::string &symbol, std::ostream &out)
{
	if (count_ == capacity || symbol.empty() || symbol.size() >= sizeof(Listing::symbol) || find(symbol))
		return false;
	{
		Edit listing(listings_[count_]);

		std::memset(listing->symbol, 0, sizeof(listing->symbol));
		std::memcpy(listing->symbol, symbol.data(), symbol.size());
		listing->current = 0;
		listing->halts = 0;
		listing->prices[0] = Price{};
	}
	{
		Edit count(count_);

		++*count;
	}
	out << symbol << " is listed" << std::endl;
	return true;
}

bool Board::quote(const std::string &symbol, std::uint64_t bid, std::uint64_t ask, std::ostream &out)
{
	Listing *listing = find(symbol);

	if (!listing || bid > ask)
		return false;
	{
		Edit price(listing->prices[1 - listing->current]);

		price->bid = bid;
		price->ask = ask;
		price->sum = bid + ask;
	}
	{
		Edit current(listing->current);

		*current = 1 - *current;
	}
	out << symbol << " is at " << bid << " to " << ask << std::endl;
	return true;
}

bool Board::halt(const std::string &symbol, std::ostream &out)
{
	Listing *listing = find(symbol);

	if (!listing)
		return false;
	{
		Edit halts(listing->halts);

		++*halts;
	}
	out << symbol << " is halted" << std::endl;
	return true;
}

bool Board::check(std::ostream &out, std::ostream &err) const
{
	if (count_ > capacity) {
		err << "board: " << count_ << " listings cannot be\n";
		return false;
	}
	for (std::uint64_t i = 0; i < count_; i++) {
		const Listing &l = listings_[i];

		if (!l.symbol[0] || l.current > 1 || l.prices[l.current].sum != l.prices[l.current].bid + l.prices[l.current].ask) {
			err << "board: listing " << i << " is damaged\n";
			return false;
		}
		out << l.symbol << ' ' << l.prices[l.current].bid << ' ' << l.prices[l.current].ask << ' ' << l.halts << '\n';
	}
	return true;
}

int main(int argc, char **argv)
try {
	if (argc < 3) {
		std::cerr << "usage: " << argv[0] << " FILE check | FILE (add SYMBOL | quote SYMBOL BID ASK | halt SYMBOL)...\n";
		return 2;
	}
	const bool is_check = std::string(argv[2]) == "check";
	const nv::File<Board> file(argv[1], !is_check);

	if (!file.get()) {
		std::cout << "nothing there yet\n";
		return 0;
	}
	if (is_check)
		return file.get()->check(std::cout, std::cerr) ? 0 : 1;
	for (int i = 2; i + 1 < argc; i++) {
		const std::string op = argv[i], symbol = argv[++i];
		bool is_done = false;

		if (op == "add")
			is_done = file.get()->add(symbol, std::cout);
		else if (op == "halt")
			is_done = file.get()->halt(symbol, std::cout);
		else if (op == "quote" && i + 2 < argc) {
			is_done = file.get()->quote(symbol, std::stoull(argv[i + 1]), std::stoull(argv[i + 2]), std::cout);
			i += 2;
		}
		if (!is_done)
			std::cout << op << ' ' << symbol << " is not possible" << std::endl;
	}
	return 0;
} catch (const std::exception &e) {
	std::cerr << argv[0] << ": " << e.what() << '\n';
	return 1;
}
