# Man pages, from Markdown.
MAN := $(patsubst docs/%.1.md,$(B)/man/%.1,$(wildcard docs/*.1.md))

man: $(MAN)

$(B)/man/%.1: docs/%.1.md
	@mkdir -p $(@D)
	lowdown -s -Tman --out-no-smarty -o $@ $<
