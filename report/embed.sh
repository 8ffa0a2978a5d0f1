#!/bin/sh
# embed.sh NAME MACRO FILE...: each FILE as `static const char NAME[]` of C, and MACRO_HASH, what a Content-Security-Policy calls it.
set -e
while [ $# -gt 0 ]; do
	hash=$(env printf "$(sha256sum <"$3" | cut -c1-64 | sed 's/../\\x&/g')" | base64)
	echo "#define $2_HASH \"sha256-$hash\""
	echo "static const char $1[] ="
	sed 's/\\/\\\\/g; s/"/\\"/g; s/.*/\t"&\\n"/' "$3"
	echo "	;"
	shift 3
done
