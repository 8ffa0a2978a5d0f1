#include "run.h"
const struct test signal_tests[] = { { 0 } };
