/* The store or call at a place of the source. */
#ifndef SOURCE_CLANG_STORES_H
#define SOURCE_CLANG_STORES_H

#include "source/clang/typing_internal.h"

bool store_find(struct typed_unit *t, const struct source_query *q, struct place *out); /* in t->function */

#endif
