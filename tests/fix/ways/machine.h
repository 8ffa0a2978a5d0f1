/* The instructions of both machines, as macros. */
#ifdef __aarch64__
#define MACHINE_FLUSH(p) __asm__ volatile("dc cvac, %0" : : "r"(p) : "memory")
#define MACHINE_FENCE() __asm__ volatile("dsb sy" : : : "memory")
#else
#define MACHINE_FLUSH(p) __asm__ volatile("clflush (%0)" : : "r"(p) : "memory")
#define MACHINE_FENCE() __asm__ volatile("sfence" : : : "memory")
#endif
