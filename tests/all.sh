#!/bin/bash
# Runs all tests. Arguments: the command that runs something on an x86-64 machine, if this is none; then two such machines take group
# after group, the long ones first, because an emulated machine uses one core only. The last line counts them all.
cd "$(dirname "$0")/.." || exit 1
[ $# -gt 0 ] || exec tests/run.py

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
long="corpus recorder cli fix mutants crash races unit-asan unit"
tests/run.py --groups | sort >"$logs/all"
{ printf '%s\n' $long | grep -Fxf "$logs/all"; printf '%s\n' $long | grep -vFxf - "$logs/all"; } >"$logs/todo"

# The first line of the list, which is then shorter; empty when there is none.
take() { flock "$logs/lock" sh -c 'head -n 1 "$0"; sed -i 1d "$0"' "$logs/todo"; }

machine() { # NAME RUN...
	local group
	export PMEND_VM=$1
	shift
	while group=$(take) && [ -n "$group" ]; do
		"$@" tests/run.py "$group" >"$logs/$group.log" 2>&1
		grep -vE '^[0-9]+ passed, ' "$logs/$group.log"
	done
}

tests_run=$(cat "$logs/todo")
# Kept running between groups, ended afterwards.
for name in "" second; do
	(
		PMEND_VM=$name "${1}" run true
		machine "$name" "$1" run
		PMEND_VM=$name "${1}" stop
	) &
done
wait
for group in $tests_run; do
	grep -qE '^[0-9]+ passed, ' "$logs/$group.log" 2>/dev/null || echo "FAIL $group did not come to its end" | tee -a "$logs/unfinished"
done

cat "$logs"/*.log | awk -F'[ ,]+' -v unfinished="$(cat "$logs/unfinished" 2>/dev/null | wc -l)" '
	/^[0-9]+ passed, [0-9]+ failed/ { passed += $1; failed += $3; skipped += $5 }
	END {
		failed += unfinished
		printf "%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
		exit failed > 0
	}'
