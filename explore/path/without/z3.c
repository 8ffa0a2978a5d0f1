/* Replaces explore/path/solver.c when pmend is built without Z3: nothing can be solved. */
#include "explore/path/solver.h"

const char solver_todo[] = "apt-get install " PACKAGES ", then build pmend again";

const struct solver_api *solver_api_load(const char *path, struct error *err)
{
	(void)path;
	error_set(err, "pmend was built without Z3");
	return NULL;
}
