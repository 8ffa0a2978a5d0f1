#include "run.h"
const struct test call_tests[] = { { 0 } };
