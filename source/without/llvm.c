/* Replaces source/load.c when pmend is built without LLVM and libclang: sources cannot be read. */
#include "source/source.h"

const char source_todo[] = "apt-get install " PACKAGES ", then build pmend again";

const struct source_api *source_load(const char *folder, struct error *err)
{
	(void)folder;
	error_set(err, "pmend was built without libclang, which it needs to read sources; try: %s",
		  source_todo);
	return NULL;
}
