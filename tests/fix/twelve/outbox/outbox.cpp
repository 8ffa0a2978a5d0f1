// outbox.cpp - messages that wait for their subscribers, in mapped persistent memory
#include "outbox.hpp"

#include <algorithm>
#include <iostream>

std::uint32_t Message::digest() const
{
	std::uint32_t h = 5381 + static_cast<std::uint32_t>(number_);

	for (char c : text())
		h = h * 33 + static_cast<unsigned char>(c);
	return h;
}

void Message::fill(std::uint64_t number, std::string_view text)
{
	number_ = number;
	length_ = static_cast<std::uint32_t>(std::min(text.size(), text_.size()));
	text_.fill('\0');
	std::copy_n(text.begin(), length_, text_.begin());
	digest_ = digest();
}

bool Message::intact(std::uint64_t number) const
{
	return number_ == number && length_ <= text_.size() && digest_ == digest();
}

void Cursor::open(std::string_view name, std::uint64_t position)
{
	name_.fill('\0');
	std::copy_n(name.begin(), std::min(name.size(), name_.size() - 1), name_.begin());
	position_ = position;
	pm::persist(*this);
	active_ = 1;
	pm::persist(active_);
}

void Cursor::advance()
{
	pm::Scope guard(position_);

	position_++;
}

// Of a file that is new, so all cursors are free.
void Outbox::format()
{
	head_ = tail_ = 0;
	current_ = 0;
	totals_[0] = Totals{};
	pm::write_back(head_);
	pm::write_back(tail_);
	pm::write_back(current_);
	pm::persist(totals_[0]);
	magic_ = magic;
	pm::persist(magic_);
}

bool Outbox::subscribe(std::string_view name)
{
	for (Cursor &c : cursors_)
		if (!c.active()) {
			c.open(name, tail_);
			return true;
		}
	return false;
}

bool Outbox::send(std::string_view text)
{
	if (tail_ - head_ == capacity)
		return false;

	Message &slot = ring_[tail_ % capacity];
	{
		pm::Scope guard(slot);
		slot.fill(tail_, text);
	}
	tail_++;
	pm::persist(tail_);
	return true;
}

std::optional<std::string_view> Outbox::receive(std::string_view name)
{
	for (Cursor &c : cursors_) {
		if (!c.named(name))
			continue;
		if (c.position() == tail_)
			break;
		const auto text = ring_[c.position() % capacity].text();
		c.advance();
		trim();
		return text;
	}
	return std::nullopt;
}

// Give back the room of messages that all subscribers have read.
void Outbox::trim()
{
	std::uint64_t lowest = tail_;

	for (const Cursor &c : cursors_)
		if (c.active())
			lowest = std::min(lowest, c.position());
	if (lowest == head_)
		return;
	pm::Scope guard(head_);
	head_ = lowest;
}

void Outbox::checkpoint()
{
	Totals &next = totals_[1 - current_];

	next.sent = tail_;
	next.delivered = head_;
	next.checkpoints = totals_[current_].checkpoints + 1;
	next.sum = next.sent + next.delivered + next.checkpoints;
	pm::persist(next);
	current_ = 1 - current_;
	pm::persist(current_);
}

bool Outbox::verify(std::ostream &out, std::ostream &err) const
{
	if (head_ > tail_ || tail_ - head_ > capacity || current_ > 1) {
		err << "outbox: " << head_ << " to " << tail_ << " cannot be\n";
		return false;
	}
	for (const Cursor &c : cursors_) {
		if (!c.active())
			continue;
		if (c.position() < head_ || c.position() > tail_ || c.name().empty()) {
			err << "outbox: " << c.name() << " is at " << c.position() << ", not in " << head_ << " to " << tail_ << '\n';
			return false;
		}
		out << c.name() << " at " << c.position() << '\n';
	}
	for (auto n = head_; n < tail_; n++) {
		if (!ring_[n % capacity].intact(n)) {
			err << "outbox: message " << n << " is damaged\n";
			return false;
		}
		out << n << ' ' << ring_[n % capacity].text() << '\n';
	}
	const Totals &t = totals_[current_];
	if (t.sum != t.sent + t.delivered + t.checkpoints || t.sent > tail_ || t.delivered > head_) {
		err << "outbox: totals of checkpoint " << t.checkpoints << " are wrong\n";
		return false;
	}
	out << t.checkpoints << " checkpoints\n";
	return true;
}

int main(int argc, char **argv)
try {
	if (argc < 3) {
		std::cerr << "usage: " << argv[0] << " FILE verify | FILE (sub NAME | send TEXT | recv NAME | checkpoint)...\n";
		return 2;
	}
	const bool verify = std::string_view(argv[2]) == "verify";
	const pm::Mapping<Outbox> box(argv[1], !verify);

	if (verify) {
		if (box && box->formatted())
			return box->verify(std::cout, std::cerr) ? 0 : 1;
		std::cout << "nothing there yet\n";
		return 0;
	}
	if (!box->formatted())
		box->format();
	for (int i = 2; i < argc; i++) {
		const std::string_view op = argv[i];

		if (op == "checkpoint") {
			box->checkpoint();
			std::cout << "checkpoint taken" << std::endl;
		} else if (op == "sub" && ++i < argc) {
			std::cout << argv[i] << (box->subscribe(argv[i]) ? " subscribed" : ": no room") << std::endl;
		} else if (op == "send" && ++i < argc) {
			std::cout << (box->send(argv[i]) ? "sent " : "full: ") << argv[i] << std::endl;
		} else if (op == "recv" && ++i < argc) {
			std::cout << argv[i] << " got " << box->receive(argv[i]).value_or("nothing") << std::endl;
		} else {
			std::cerr << argv[0] << ": what is " << op << "?\n";
			return 2;
		}
	}
	return 0;
} catch (const std::exception &e) {
	std::cerr << argv[0] << ": " << e.what() << '\n';
	return 1;
}
