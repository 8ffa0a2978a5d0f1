#ifndef SOURCE_CLANG_LLVM_H
#define SOURCE_CLANG_LLVM_H

/* The clang of the LLVM that this library is linked with (LLVM_NUMBER, tools/llvm.mk), searched in
 * $PATH; free() it. NULL if it is not installed. */
char *llvm_clang(void);

/* The folder of that clang's own headers; NULL if unknown. */
const char *llvm_resources(void);

#endif
