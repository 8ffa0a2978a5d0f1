/* Has the style and script of the page as strings. The assembler reads page.css and page.js when
 * pmend is built. */
#include "report/html/html.h"

#define EMBED(name, path) \
	__asm__(".section .rodata\n" \
		".global " #name "\n" #name ":\n" \
		".incbin \"" path "\"\n" \
		".byte 0\n" \
		".previous\n")

EMBED(page_style, "report/html/page.css");
EMBED(page_script, "report/html/page.js");
