# What is installed and where: one list, which `make install` copies and `make uninstall` removes.
# PREFIX is where it will be used, DESTDIR a root to put it under (for packages).
DATA := $(DESTDIR)$(PREFIX)/share
# docs/README.md is the index of what is installed; the README of the project is about building it.
DOC_FILES := $(filter-out docs/%.1.md,$(wildcard docs/*.md)) $(wildcard docs/*.json)
EXAMPLES := examples/notes.c examples/flush.h examples/diary.c # the tutorial's
TABLE := $(wildcard examples/table/*) # for build systems and test frameworks
LIBEXEC := $(B)/libexec/pmend
COMPLETIONS := $(addprefix $(B)/completion/,pmend _pmend pmend.fish)
ZSH_FOLDER ?= site-functions # Debian has its own folder for packages

$(B)/completion/pmend: SHELL_NAME := bash
$(B)/completion/_pmend: SHELL_NAME := zsh
$(B)/completion/pmend.fish: SHELL_NAME := fish
$(COMPLETIONS): $(B)/pmend
	@mkdir -p $(@D)
	$(RUN) build/pmend completion $(SHELL_NAME) >$@.new
	mv $@.new $@

# The header is the same for all architectures, so this is in share/.
$(B)/pmend.pc: Makefile tools/install.mk
	printf '%s\n' 'prefix=$(PREFIX)' 'includedir=$${prefix}/include' '' 'Name: pmend' \
		'Description: annotations for programs on persistent memory, and the interface of oracles' 'Version: $(VERSION)' 'Cflags: -I$${includedir}' >$@

.PHONY: install uninstall pc deb
pc: # PREFIX may be another one each time
	@rm -f $(B)/pmend.pc
	@$(MAKE) --no-print-directory $(B)/pmend.pc

# $(call each_installed,DO): DO is a shell function, called with a mode (or "link"), a folder and files.
define each_installed
	$(1) 755 "$(DESTDIR)$(PREFIX)/bin" $(B)/pmend && \
	$(1) 755 "$(DESTDIR)$(PREFIX)/libexec/pmend" $$(find $(LIBEXEC) -type f -name '*-linux') && \
	$(1) 644 "$(DESTDIR)$(PREFIX)/libexec/pmend" $$(find $(LIBEXEC) -type f ! -name '*-linux') && \
	$(1) link "$(DESTDIR)$(PREFIX)/libexec/pmend" $$(find $(LIBEXEC) -type l) && \
	$(1) 644 "$(DESTDIR)$(PREFIX)/include" include/pmend.h include/pmend_oracle.h && \
	$(1) 644 "$(DATA)/man/man1" $(MAN) && \
	$(1) 644 "$(DATA)/doc/pmend" $(DOC_FILES) && \
	$(1) 644 "$(DATA)/doc/pmend/examples" $(EXAMPLES) && \
	$(1) 644 "$(DATA)/doc/pmend/examples/table" $(TABLE) && \
	$(1) 644 "$(DESTDIR)$(PREFIX)/lib/cmake/pmend" $(wildcard cmake/*.cmake) && \
	$(1) 644 "$(DATA)/pkgconfig" $(B)/pmend.pc && \
	$(1) 644 "$(DATA)/bash-completion/completions" $(B)/completion/pmend && \
	$(1) 644 "$(DATA)/zsh/$(strip $(ZSH_FOLDER))" $(B)/completion/_pmend && \
	$(1) 644 "$(DATA)/fish/vendor_completions.d" $(B)/completion/pmend.fish
endef

# Which folders an installation made: tools/folders.
FOLDERS := "$(DESTDIR)$(PREFIX)" "$(DESTDIR)$(PREFIX)/libexec/pmend/folders"

install: all man pc $(COMPLETIONS)
	put() { mode=$$1 to=$$2; shift 2; tools/folders make $(FOLDERS) "$$to" && if [ $$mode = link ]; then cp -P "$$@" "$$to/"; else install -m $$mode "$$@" "$$to/"; fi; }; \
	$(call each_installed,put)

# Folders that the installation made go, too, if nothing else is in them.
uninstall: all man pc $(COMPLETIONS)
	drop() { to=$$2; shift 2; for f; do rm -f "$$to/$${f##*/}" || return; done; }; \
	$(call each_installed,drop)
	tools/folders remove $(FOLDERS)

# The package is made in a copy of the tree, from what is built already.
deb: all man
	@[ -z "$(RUN)" ] || { echo "make deb makes the package of this machine's own architecture, $(NATIVE)"; exit 1; }
	@tools/apt-install $$(tools/packages deb)
	@tools/make-deb $(B)/deb
