#include "run.h"
const struct test path_tests[] = { { 0 } };
