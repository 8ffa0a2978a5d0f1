/* The table of functions that libpmend_source.so offers to pmend. source/load.c finds it by its
 * name. */
#include "source/alias/internal.h"
#include "source/clang/database.h"
#include "source/clang/unit.h"

static const struct alias_api alias = { bitcode_open, alias_close, alias_seed, alias_count,
					alias_each };

extern const struct source_api pmend_source;
__attribute__((visibility("default"))) const struct source_api pmend_source = {
	.version = SOURCE_VERSION,
	.open = database_open,
	.close = database_close,
	.parse = unit_parse,
	.release = unit_release,
	.compiles = unit_compiles,
	.alias = &alias,
	.typing = &typing_api,
};
