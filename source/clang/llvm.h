#ifndef SOURCE_CLANG_LLVM_H
#define SOURCE_CLANG_LLVM_H

/* The clang of the LLVM that this library is linked with (LLVM_NUMBER, tools/llvm.mk), found by
 * PATH: malloc'ed, or NULL. */
char *llvm_clang(void);

/* Where that clang has its own headers: NULL if nobody knows. */
const char *llvm_resources(void);

#endif
