// outbox.hpp - messages that wait for their subscribers, in mapped persistent memory
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string_view>

#include "persist.hpp"

class Message {
public:
	void fill(std::uint64_t number, std::string_view text);
	bool intact(std::uint64_t number) const;
	std::string_view text() const { return {text_.data(), length_}; }

private:
	std::uint32_t digest() const;

	std::uint64_t number_;
	std::uint32_t length_;
	std::uint32_t digest_;
	std::array<char, 112> text_;
};

// How far one subscriber has read.
class alignas(pm::line_size) Cursor {
public:
	bool active() const { return active_ != 0; }
	bool named(std::string_view name) const { return active() && name == name_.data(); }
	std::string_view name() const { return name_.data(); }
	std::uint64_t position() const { return position_; }
	void open(std::string_view name, std::uint64_t position);
	void advance();

private:
	std::array<char, 24> name_;
	std::uint64_t position_;
	std::uint64_t active_;
};

// Totals as of the last checkpoint. Two copies; the selector says which one is valid.
struct alignas(pm::line_size) Totals {
	std::uint64_t sent;
	std::uint64_t delivered;
	std::uint64_t checkpoints;
	std::uint64_t sum; // of the three
};

class Outbox {
public:
	static constexpr std::uint64_t capacity = 8;

	bool formatted() const { return magic_ == magic; }
	void format();
	bool subscribe(std::string_view name);
	bool send(std::string_view text);
	std::optional<std::string_view> receive(std::string_view name);
	void checkpoint();
	bool verify(std::ostream &out, std::ostream &err) const;

private:
	static constexpr std::uint64_t magic = 0x31584f4254554f50;

	void trim();

	std::uint64_t magic_;
	alignas(pm::line_size) std::uint64_t head_; // the oldest message that somebody has not read
	alignas(pm::line_size) std::uint64_t tail_; // the next message's number
	alignas(pm::line_size) std::uint64_t current_; // the valid copy of the totals
	std::array<Totals, 2> totals_;
	std::array<Cursor, 4> cursors_;
	alignas(pm::line_size) std::array<Message, capacity> ring_;
};
