/* Opens libpmend_source.so when sources are first read, because libclang and LLVM take a moment to
 * load. A library of another version of pmend is refused. */
#include <dlfcn.h>
#include <stdlib.h>

#include "source/source.h"
#include "util/alloc.h"

const char source_todo[] = "apt-get install libclang1-" LLVM_NUMBER " libllvm" LLVM_NUMBER;

const struct source_api *source_load(const char *folder, struct error *err)
{
	char *path = xasprintf("%s/libpmend_source.so", folder);
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	const struct source_api *api = object ? dlsym(object, "pmend_source") : NULL;

	free(path);
	if (!api)
		error_set(err, "cannot load the library that reads sources: %s; try: %s", dlerror(),
			  source_todo);
	else if (api->version != SOURCE_VERSION)
		error_set(
			err,
			"%s/libpmend_source.so belongs to another version of pmend; run 'make install' again",
			folder);
	return api && api->version == SOURCE_VERSION ? api : NULL;
}
