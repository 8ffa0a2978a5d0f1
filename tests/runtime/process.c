#include "run.h"
const struct test process_tests[] = { { 0 } };
