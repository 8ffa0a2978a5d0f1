/* GoogleTest: does table_put() survive a crash at any moment? The test starts this program again
 * under pmend, to do the one operation on the fixture's table, and once more to print what each
 * crash leaves. */
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <pmend.h>

#include "table.h"

static std::string own_path()
{
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof path);

	return std::string(path, n > 0 ? n : 0);
}

/* The exit status; 127 if the program cannot be started. */
static int run(const std::vector<std::string> &words)
{
	std::vector<char *> argv;
	int status = 0;
	pid_t pid;

	for (const std::string &word : words)
		argv.push_back(const_cast<char *>(word.c_str()));
	argv.push_back(nullptr);
	fflush(nullptr);
	pid = fork();
	if (pid == 0) {
		execvp(argv[0], argv.data());
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* A table with one row, in a folder of its own. */
class TableOnPm : public ::testing::Test
{
      protected:
	std::string folder, pool, trace;

	void SetUp() override
	{
		struct table *t;

		folder = ::testing::TempDir() + "table-XXXXXX";
		ASSERT_NE(mkdtemp(&folder[0]), nullptr);
		pool = folder + "/pool";
		trace = folder + "/trace.pmt";
		t = table_open(pool.c_str());
		ASSERT_NE(t, nullptr);
		ASSERT_TRUE(table_put(t, 1, 10));
		table_close(t); /* nobody else may have the pool while pmend records */
	}

	void TearDown() override
	{
		unlink(trace.c_str());
		unlink(pool.c_str());
		rmdir(folder.c_str());
	}

	/* pmend's exit status: 0 if every crash during the operation leaves the table as before or
	 * as after it. pmend prints what it finds. */
	int crash(const char *operation)
	{
		const char *pmend = getenv("PMEND");
		const std::string self = own_path();

		return run({ pmend ? pmend : "pmend", "test", "--trace", trace, "--dump",
			     "'" + self + "' print {}", "--", self, operation, pool });
	}
};

TEST_F(TableOnPm, PutSurvivesCrashes)
{
	EXPECT_EQ(crash("put"), 0);
}

int main(int argc, char **argv)
{
	struct table *t = argc == 3 ? table_open(argv[2]) : nullptr;

	if (t && strcmp(argv[1], "print") == 0) {
		table_print(t);
		return 0;
	}
	if (t && strcmp(argv[1], "put") == 0) {
		PMEND_OP_BEGIN("put");
		table_put(t, 2, 20);
		PMEND_OP_END("put");
		return 0;
	}
	testing::InitGoogleTest(&argc, argv);
	return RUN_ALL_TESTS();
}
