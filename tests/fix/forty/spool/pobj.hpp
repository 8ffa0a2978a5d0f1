// pobj.hpp -- the part of a C++ layer over libpmemobj that the spooler needs:
// persistent pointers, persistent properties and transactions.
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>

#include <libpmemobj.h>

namespace pobj {

class pool_error : public std::runtime_error {
public:
	using std::runtime_error::runtime_error;
};

class transaction_error : public std::runtime_error {
public:
	using std::runtime_error::runtime_error;
};

namespace transaction {

// Logs an object, so that it is restored if the transaction does not commit.
template <typename T>
inline void snapshot(T *object, std::size_t count = 1)
{
	if (pmemobj_tx_add_range_direct(object, sizeof(T) * count) != 0)
		throw transaction_error("cannot log: " + std::string(pmemobj_errormsg()));
}

// Runs the function in a transaction. An inner one becomes part of the outer.
template <typename F>
inline void run(PMEMobjpool *pop, F &&body)
{
	if (pmemobj_tx_begin(pop, nullptr, TX_PARAM_NONE) != 0)
		throw transaction_error("cannot begin: " + std::string(pmemobj_errormsg()));
	try {
		body();
	} catch (...) {
		if (pmemobj_tx_stage() == TX_STAGE_WORK)
			pmemobj_tx_abort(ECANCELED);
		(void)pmemobj_tx_end();
		throw;
	}
	if (pmemobj_tx_stage() == TX_STAGE_WORK)
		pmemobj_tx_commit();
	if (pmemobj_tx_end() != 0)
		throw transaction_error("aborted: " + std::string(pmemobj_errormsg()));
}

} // namespace transaction

// A property of a persistent object: logged when it is assigned.
template <typename T>
class p {
	static_assert(std::is_trivially_copyable<T>::value, "properties are plain data");

public:
	p() : value_() {}
	p(const T &value) : value_(value) {}
	p(const p &) = default;

	p &operator=(const T &value)
	{
		transaction::snapshot(&value_);
		value_ = value;
		return *this;
	}
	p &operator=(const p &other) { return *this = other.value_; }
	p &operator+=(const T &value) { return *this = value_ + value; }
	p &operator-=(const T &value) { return *this = value_ - value; }

	operator const T &() const { return value_; }
	const T &get_ro() const { return value_; }

private:
	T value_;
};

template <typename T>
class persistent_ptr {
public:
	persistent_ptr() : oid_(OID_NULL) {}
	explicit persistent_ptr(PMEMoid oid) : oid_(oid) {}
	persistent_ptr(const persistent_ptr &) = default;

	persistent_ptr &operator=(const persistent_ptr &other)
	{
		if (pmemobj_pool_by_ptr(this) != nullptr)
			transaction::snapshot(&oid_);
		oid_ = other.oid_;
		return *this;
	}

	T *get() const { return static_cast<T *>(pmemobj_direct(oid_)); }
	T *operator->() const { return get(); }
	T &operator*() const { return *get(); }
	explicit operator bool() const { return !OID_IS_NULL(oid_); }
	PMEMoid raw() const { return oid_; }

	friend bool operator==(const persistent_ptr &a, const persistent_ptr &b)
	{
		return OID_EQUALS(a.oid_, b.oid_);
	}

private:
	PMEMoid oid_;
};

template <typename T, typename... Args>
persistent_ptr<T> make_persistent(Args &&...args)
{
	persistent_ptr<T> ptr(pmemobj_tx_alloc(sizeof(T), 1));

	if (!ptr)
		throw transaction_error("no space: " + std::string(pmemobj_errormsg()));
	new (ptr.get()) T(std::forward<Args>(args)...);
	return ptr;
}

template <typename T>
void delete_persistent(const persistent_ptr<T> &ptr)
{
	if (pmemobj_tx_free(ptr.raw()) != 0)
		throw transaction_error("cannot free: " + std::string(pmemobj_errormsg()));
}

} // namespace pobj
