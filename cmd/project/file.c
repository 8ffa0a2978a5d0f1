/* Parses the lines of a project file. Here, only the form is checked, and that nothing occurs
 * twice; the option table knows whether a key is an option of its command. */
#include "cmd/project/file.h"

#include <ctype.h>
#include <string.h>

#include "util/alloc.h"

/* Commands that can have a section. Commands that merge parts or use bundles cannot, because they
 * must do what the parts did. */
static const char *const commands[] = {
	"record", "check", "crash", "explore", "fix", "test", NULL
};

static bool is_command(const char *word)
{
	size_t i = 0;

	while (commands[i] && strcmp(commands[i], word) != 0)
		i++;
	return commands[i] != NULL;
}

/* Is the word allowed as the name of a test? A name becomes a part of file names, and a word on the
 * command line. */
static bool is_name(const char *word)
{
	return isalnum((unsigned char)*word) &&
	       strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-") ==
		       strlen(word) &&
	       strlen(word) <= 64;
}

/* Removes blanks around the text, in place. */
static char *trimmed(char *text)
{
	size_t len;

	while (isspace((unsigned char)*text))
		text++;
	len = strlen(text);
	while (len > 0 && isspace((unsigned char)text[len - 1]))
		text[--len] = '\0';
	return text;
}

const struct project_section *project_file_section(const struct project_file *p,
						   const char *command, const char *name)
{
	for (size_t i = 0; i < p->sections.n; i++) {
		const struct project_section *s = &p->sections.at[i];

		if (strcmp(s->command, command) == 0 && !s->name == !name &&
		    (!name || strcmp(s->name, name) == 0))
			return s;
	}
	return NULL;
}

/* Adds the section that a line such as "[test insert]" begins. */
static int section_add(struct project_file *p, char *text, unsigned line, struct error *err)
{
	char *end = strchr(text, ']'), *command, *name;
	const struct project_section *before;

	if (!end || end[1])
		return error_set(err, "%s:%u: a section looks like [crash] or [test NAME]", p->path,
				 line);
	*end = '\0';
	command = trimmed(text + 1);
	name = command + strcspn(command, " \t");
	if (*name)
		*name++ = '\0';
	name = trimmed(name);
	if (!is_command(command))
		return error_set(
			err,
			"%s:%u: no section [%s]; there are record, check, crash, explore, fix, test and [test NAME]",
			p->path, line, command);
	if (*name && strcmp(command, "test") != 0)
		return error_set(err, "%s:%u: only tests have a name: [%s]", p->path, line,
				 command);
	if (*name && !is_name(name))
		return error_set(
			err,
			"%s:%u: the name of a test is made of letters, digits and - _ . and begins with a letter or digit, not '%s'",
			p->path, line, name);
	before = project_file_section(p, command, *name ? name : NULL);
	if (before)
		return error_set(err, "%s:%u: the same section is in line %u", p->path, line,
				 before->line);
	*vec_add(&p->sections) = (struct project_section){ .command = xstrdup(command),
							   .name = *name ? xstrdup(name) : NULL,
							   .line = line };
	return 0;
}

/* Adds the option that a line such as "recover = ./app check {}" sets. */
static int item_add(struct project_file *p, char *text, unsigned line, struct error *err)
{
	char *equals = strchr(text, '='), *key, *value;

	if (!equals)
		return error_set(err, "%s:%u: a line is [SECTION], KEY = VALUE or # COMMENT",
				 p->path, line);
	if (p->sections.n == 0)
		return error_set(err, "%s:%u: no section stands before this line, such as [test]",
				 p->path, line);
	*equals = '\0';
	key = trimmed(text);
	value = trimmed(equals + 1);
	if (!*key)
		return error_set(err, "%s:%u: a key is missing before =", p->path, line);
	if (!*value)
		return error_set(err, "%s:%u: '%s' has no value", p->path, line, key);
	*vec_add(&p->sections.at[p->sections.n - 1].items) =
		(struct project_item){ xstrdup(key), xstrdup(value), line };
	return 0;
}

static int line_read(struct project_file *p, char *text, unsigned line, struct error *err)
{
	text = trimmed(text);
	if (!*text || *text == '#')
		return 0;
	return *text == '[' ? section_add(p, text, line, err) : item_add(p, text, line, err);
}

int project_file_parse(struct project_file *p, const char *text, size_t len, struct error *err)
{
	unsigned line = 0;
	int status = 0;

	if (memchr(text, '\0', len))
		return error_set(err, "%s: it has a NUL byte, so it is no text", p->path);
	while (len > 0 && status == 0) {
		const char *newline = memchr(text, '\n', len);
		const size_t n = newline ? (size_t)(newline - text) : len;
		char *copy = xasprintf("%.*s", (int)n, text);

		status = line_read(p, copy, ++line, err);
		free(copy);
		text += n + (newline != NULL);
		len -= n + (newline != NULL);
	}
	return status;
}
