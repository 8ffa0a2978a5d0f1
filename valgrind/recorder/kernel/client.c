/* Reads strings and paths from the program's memory, page by page, because the memory behind a
 * string may be invalid. */
#include "valgrind/recorder/kernel/client.h"

#include "pub_tool_aspacemgr.h"
#include "pub_tool_libcfile.h"

const HChar *client_string(UWord a)
{
	for (Addr at = a;; at++) {
		if ((at == a || at % PMT_PAGE_BYTES == 0) &&
		    !VG_(am_is_valid_for_client)(at, 1, VKI_PROT_READ))
			return "";
		if (*(const HChar *)at == '\0')
			return (const HChar *)a;
		if (at - a >= PMT_PAGE_BYTES)
			return ""; /* longer than a path can be */
	}
}

const HChar *client_path_at(HChar *buf, SizeT cap, Int dirfd, UWord a)
{
	const HChar *path = client_string(a);

	if (path[0] == '/' || dirfd == VKI_AT_FDCWD)
		return path;
	VG_(snprintf)(buf, cap, "/proc/self/fd/%d/%s", dirfd, path);
	return buf;
}

const HChar *client_absolute_path_at(HChar *buf, SizeT cap, Int dirfd, UWord a)
{
	const HChar *path = client_string(a);
	HChar link[64];
	SSizeT n;

	if (path[0] == '/')
		return path;
	if (dirfd == VKI_AT_FDCWD)
		VG_(sprintf)(link, "/proc/self/cwd");
	else
		VG_(sprintf)(link, "/proc/self/fd/%d", dirfd);
	n = VG_(readlink)(link, buf, cap);
	if (n <= 0 || n + 1 + VG_(strlen)(path) >= cap)
		return path;
	buf[n] = '/';
	VG_(strcpy)(buf + n + 1, path);
	return buf;
}
