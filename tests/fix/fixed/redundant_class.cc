// What methods did before makes it redundant; what another method, or only one branch of it, did does not.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <libpmem.h>
#include <string>

struct Medium {
	static void writeBack(const void *p, std::size_t n) { pmem_flush(p, n); }
	static void wait() { pmem_drain(); }
	static void save(const void *p, std::size_t n)
	{
		writeBack(p, n);
		wait();
	}
};

struct alignas(64) Row {
	std::uint64_t id, version;
	char text[112];

	void name(std::uint64_t newId)
	{
		id = newId;
		Medium::save(&id, sizeof(id));
	}
	void touch() { version++; }
};

class Sheet {
public:
	explicit Sheet(Row *rows) : rows_(rows) {}
	void name(std::uint64_t id)
	{
		rows_->name(id);
	}
	void rename(std::uint64_t id)
	{
		rows_->name(id);
		rows_->touch();
		Medium::save(&rows_->version, sizeof(rows_->version)); /* BUG: flush-clean, suggested: the store in line 27 of */
	}
	void write(const std::string &text)
	{
		put(rows_, text);
		Medium::wait(); /* BUG: redundant-flush */
		again();
	}
	void again()
	{
		rows_->name(2);
		if (rows_->version) {
			rows_->version = 0;
			Medium::writeBack(&rows_->version, sizeof(rows_->version));
		}
		Medium::wait(); /* BUG: redundant-fence, suggested: may need it */
	}

	void replace(const Row &with)
	{
		rows_->name(1);
		*rows_ = with;
		Medium::save(&rows_->id, sizeof(rows_->id)); /* BUG: flush-clean, suggested: the store in line 65 */
	}
	void inside(std::uint64_t id)
	{
		auto set = [this](std::uint64_t to) { rows_->id = to; };

		rows_->name(1);
		set(id);
		Medium::save(&rows_->id, sizeof(rows_->id)); /* BUG: flush-clean, suggested: the store in line 73 */
	}

private:
	void put(Row *row, const std::string &text)
	{
		row->id = text.size();
		row->version = 1;
		std::memcpy(row->text, text.data(), sizeof(row->text));
		Medium::writeBack(row, sizeof(*row));
	}
	Row *rows_;
};

int main(int argc, char **argv)
{
	Row *rows = static_cast<Row *>(pmem_map_file(argv[1], 4096, PMEM_FILE_CREATE, 0600, nullptr, nullptr));
	Sheet sheet(rows);

	sheet.name(static_cast<std::uint64_t>(argc));
	sheet.rename(2);
	sheet.write(argv[0]);
	sheet.replace(rows[1]);
	sheet.inside(3);
	return 0;
}
