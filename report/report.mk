# The assembler reads the page's style and script into this object, which the compiler does not know.
$(B)/obj/report/html/embedded.o $(B)/obj-asan/report/html/embedded.o: report/html/page.css report/html/page.js
