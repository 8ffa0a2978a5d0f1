/* Opens the shared object of the solver, which is never closed. */
#include "explore/path/solver.h"

#include <dlfcn.h>

const char solver_todo[] = "apt-get install libz3-4";

const struct solver_api *solver_api_load(const char *path, struct error *err)
{
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct solver_api *api = object ? dlsym(object, SOLVER_SYMBOL) : NULL;

	if (!api) {
		error_set(err, "cannot load the solver: %s", dlerror());
		return NULL;
	}
	return api;
}
