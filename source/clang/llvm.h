#ifndef SOURCE_CLANG_LLVM_H
#define SOURCE_CLANG_LLVM_H

/* Finds the clang of the LLVM that this library is linked with (LLVM_NUMBER, tools/llvm.mk) in
 * $PATH. Gives its path; free() it. NULL if it is not installed. */
char *llvm_clang(void);

/* Gives the folder of the headers that this clang brings; NULL if unknown. */
const char *llvm_resources(void);

#endif
