# The page's style and script, as strings of C with the hashes that its Content-Security-Policy names.
PAGE_PARTS := report/html/page.css report/html/page.js
PAGE_EMBEDDED := $(B)/obj/report/html/page_embedded.h

$(PAGE_EMBEDDED): $(PAGE_PARTS) report/embed.sh
	@mkdir -p $(@D)
	sh report/embed.sh page_style PAGE_STYLE report/html/page.css page_script PAGE_SCRIPT report/html/page.js >$@

$(B)/obj/report/html/page.o: $(PAGE_EMBEDDED)
$(B)/obj/report/html/page.o: ALL_CFLAGS += -I$(B)/obj/report/html
