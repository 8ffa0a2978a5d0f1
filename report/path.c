/* Handles paths as text: their last part, URIs. The file system is not asked, so symbolic links are
 * not followed. */
#include <ctype.h>
#include <string.h>

#include "report/internal.h"
#include "util/str.h"

const char *path_base(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	if (!path)
		return "";
	return slash && slash[1] ? slash + 1 : path;
}

/* Removes "//", "/./" and "/../" from an absolute path. */
static void path_normalise(char *path)
{
	char *out = path;
	const char *in = path;
	size_t len;

	while (*in) {
		while (*in == '/')
			in++;
		len = strcspn(in, "/");
		if (len == 2 && memcmp(in, "..", 2) == 0) {
			while (out > path && *--out != '/')
				;
		} else if (len && !(len == 1 && *in == '.')) {
			*out++ = '/';
			memmove(out, in, len);
			out += len;
		}
		in += len;
	}
	if (out == path)
		*out++ = '/';
	*out = '\0';
}

static char *path_encode(const char *scheme, const char *path)
{
	static const char digits[] = "0123456789ABCDEF";
	char *uri = xmalloc(strlen(scheme) + 3 * strlen(path) + 1), *out = stpcpy(uri, scheme);

	for (; *path; path++) {
		unsigned char c = (unsigned char)*path;

		if (c < 0x80 && (isalnum(c) || strchr("/-._~", c))) {
			*out++ = (char)c;
			continue;
		}
		*out++ = '%';
		*out++ = digits[c >> 4];
		*out++ = digits[c & 15];
	}
	*out = '\0';
	return uri;
}

char *path_uri(const char *path, const char *cwd, bool *is_below)
{
	char *whole = path[0] == '/' || !cwd ? xstrdup(path) : xasprintf("%s/%s", cwd, path), *uri;
	const char *below = whole;

	if (whole[0] == '/') {
		path_normalise(whole);
		below = path_below(whole, cwd);
	}
	*is_below = below[0] != '/';
	uri = path_encode(*is_below ? "" : "file://", below);
	free(whole);
	return uri;
}
