// spool.cpp -- a print spooler that forgets no job when the power fails
//
// A job waits, then it is printed and goes to the history. Jobs of the history
// can be purged. Each job is in exactly one of the two queues.
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sstream>
#include <sys/stat.h>

#include "pobj.hpp"

using pobj::p;
using pobj::persistent_ptr;
namespace transaction = pobj::transaction;

static const char LAYOUT[] = "spool";

// What the user asked for. Plain data: changed as a whole.
struct ticket {
	char owner[20];
	std::uint32_t pages;
	std::uint32_t copies;
	std::uint32_t sheets; // pages * copies, that the printer must have

	ticket(const std::string &who, unsigned npages, unsigned ncopies)
		: owner(), pages(npages), copies(ncopies), sheets(npages * ncopies)
	{
		who.copy(owner, sizeof(owner) - 1);
	}
	bool valid() const { return sheets == pages * copies && owner[0] != '\0'; }
};

struct job {
	p<std::uint64_t> number;
	p<std::uint64_t> priority;
	ticket order;
	persistent_ptr<job> next;

	job(std::uint64_t n, const ticket &t) : number(n), priority(1), order(t) {}
};

class job_queue {
public:
	void push_back(PMEMobjpool *pop, const persistent_ptr<job> &j)
	{
		transaction::run(pop, [&] {
			if (tail_)
				tail_->next = j;
			else
				head_ = j;
			tail_ = j;
			length_ += 1;
		});
	}

	persistent_ptr<job> pop_front(PMEMobjpool *pop)
	{
		persistent_ptr<job> j = head_;

		transaction::run(pop, [&] {
			head_ = j->next;
			if (!head_)
				tail_ = persistent_ptr<job>();
			j->next = persistent_ptr<job>();
			length_ -= 1;
		});
		return j;
	}

	persistent_ptr<job> front() const { return head_; }
	std::uint64_t length() const { return length_; }

	// Prints the jobs and adds up their sheets.
	bool list(const char *name, std::uint64_t &sheets) const
	{
		std::uint64_t seen = 0;
		persistent_ptr<job> last;

		for (persistent_ptr<job> j = head_; j; j = j->next) {
			if (!j->order.valid() || ++seen > length_)
				return false;
			std::printf("%s %llu %s %u x %u, priority %llu\n", name,
			    (unsigned long long)j->number.get_ro(), j->order.owner,
			    j->order.pages, j->order.copies,
			    (unsigned long long)j->priority.get_ro());
			sheets += j->order.sheets;
			last = j;
		}
		return seen == length_ && last == tail_;
	}

private:
	persistent_ptr<job> head_;
	persistent_ptr<job> tail_;
	p<std::uint64_t> length_;
};

// For the accountant. Both change with the job.
struct totals {
	std::uint64_t accepted;
	std::uint64_t purged;
};

class spooler {
public:
	void submit(PMEMobjpool *pop, const ticket &t)
	{
		transaction::run(pop, [&] {
			waiting_.push_back(pop, pobj::make_persistent<job>(next_number_ + 1, t));
			next_number_ += 1;
			transaction::snapshot(&totals_.accepted);
			totals_.accepted++;
		});
	}

	// The printer is done with the first job.
	void printed(PMEMobjpool *pop)
	{
		if (!waiting_.front())
			throw std::runtime_error("no job waits");
		transaction::run(pop, [&] {
			persistent_ptr<job> j = waiting_.pop_front(pop);

			history_.push_back(pop, j);
		});
	}

	// The user wants something else.
	void amend(PMEMobjpool *pop, std::uint64_t number, const ticket &t)
	{
		persistent_ptr<job> j = find(number);

		transaction::run(pop, [&] {
			transaction::snapshot(&j->order);
			j->order = t;
		});
	}

	// Everything of an owner goes first; the scheduler looks at priorities.
	void hurry(PMEMobjpool *pop, const std::string &owner)
	{
		transaction::run(pop, [&] {
			std::uint64_t hurried = 0;

			for (persistent_ptr<job> j = waiting_.front(); j; j = j->next) {
				if (owner != j->order.owner)
					continue;
				j->priority += 10;
				hurried++;
			}
			hurried_ += hurried;
		});
	}

	// Forgets the oldest printed job. The number that it had is not used again.
	void purge(PMEMobjpool *pop)
	{
		if (!history_.front())
			throw std::runtime_error("the history is empty");
		transaction::run(pop, [&] {
			persistent_ptr<job> j = history_.pop_front(pop);

			transaction::snapshot(&totals_);
			totals_.purged++;
			totals_.accepted--;
			pobj::delete_persistent(j);
		});
	}

	bool list() const
	{
		std::uint64_t sheets = 0;

		if (!waiting_.list("waiting", sheets) || !history_.list("printed", sheets))
			return false;
		std::printf("%llu jobs, %llu purged, %llu sheets\n", (unsigned long long)totals_.accepted,
		    (unsigned long long)totals_.purged, (unsigned long long)sheets);
		return totals_.accepted == waiting_.length() + history_.length() &&
		    totals_.accepted + totals_.purged == next_number_;
	}

private:
	persistent_ptr<job> find(std::uint64_t number) const
	{
		for (persistent_ptr<job> j = waiting_.front(); j; j = j->next)
			if (j->number == number)
				return j;
		throw std::runtime_error("no such job");
	}

	job_queue waiting_;
	job_queue history_;
	p<std::uint64_t> next_number_;
	p<std::uint64_t> hurried_;
	totals totals_;
};

// submit OWNER PAGES COPIES | amend NUMBER OWNER PAGES COPIES | hurry OWNER | printed | purge
static void command(PMEMobjpool *pop, spooler &s, const std::string &text)
{
	std::istringstream words(text);
	std::string verb, owner;
	std::uint64_t number = 0;
	unsigned pages = 0, copies = 0;

	words >> verb;
	if (verb == "amend")
		words >> number;
	if (verb == "submit" || verb == "amend")
		words >> owner >> pages >> copies;
	else if (verb == "hurry")
		words >> owner;
	if (!words)
		throw std::runtime_error("what is '" + text + "'?");

	if (verb == "submit")
		s.submit(pop, ticket(owner, pages, copies));
	else if (verb == "amend")
		s.amend(pop, number, ticket(owner, pages, copies));
	else if (verb == "hurry")
		s.hurry(pop, owner);
	else if (verb == "printed")
		s.printed(pop);
	else if (verb == "purge")
		s.purge(pop);
	else
		throw std::runtime_error("what is '" + text + "'?");
}

static PMEMobjpool *pool_get(const char *path, bool create)
{
	PMEMobjpool *pop = create ? pmemobj_create(path, LAYOUT, PMEMOBJ_MIN_POOL, 0666)
				  : pmemobj_open(path, LAYOUT);

	if (pop == nullptr)
		throw pobj::pool_error(pmemobj_errormsg());
	return pop;
}

int main(int argc, char *argv[])
{
	struct stat st;
	int status = 1;

	if (argc < 2) {
		std::fprintf(stderr, "usage: spool POOL [COMMAND...]\n");
		return 2;
	}
	bool absent = stat(argv[1], &st) != 0 || st.st_size == 0;
	if (absent && argc == 2) {
		std::printf("nothing there yet\n");
		return 0;
	}
	try {
		PMEMobjpool *pop = pool_get(argv[1], absent);
		// A new root is all zeros, which is an empty spooler.
		auto s = static_cast<spooler *>(pmemobj_direct(pmemobj_root(pop, sizeof(spooler))));

		if (s == nullptr)
			throw pobj::pool_error(pmemobj_errormsg());
		for (int i = 2; i < argc; i++)
			command(pop, *s, argv[i]);
		status = s->list() ? 0 : 1;
		if (status != 0)
			std::fprintf(stderr, "spool: the queues are damaged\n");
		pmemobj_close(pop);
	} catch (const std::exception &e) {
		std::fprintf(stderr, "spool: %s\n", e.what());
	}
	return status;
}
