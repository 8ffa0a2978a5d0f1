#!/bin/bash
# Runs all tests: natively, or with an argument, amd64 or arm64, in emulated machines of that architecture. There, two machines take group
# after group, the long ones first, because a test group uses little more than one core. tests/emulated.txt says what they leave out. The last line
# counts them all.
cd "$(dirname "$0")/.." || exit 1
[ $# -gt 0 ] || exec tests/run.py
arch=$1

logs=$(mktemp -d)
machines=("" second)
end() {
	kill $(jobs -p) 2>/dev/null
	for name in "${machines[@]}"; do PMEND_VM=$name tools/guest "$arch" stop; done
	rm -rf "$logs"
}
trap end EXIT
trap 'exit 130' HUP INT TERM

long="cli fix recorder explore corpus crash races mutants unit"
tests/run.py --groups | sort >"$logs/all"
{ printf '%s\n' $long | grep -Fxf "$logs/all"; printf '%s\n' $long | grep -vFxf - "$logs/all"; } >"$logs/todo"
groups=$(cat "$logs/todo")

# The first line of the list, which is then shorter; empty when there is none.
take() { flock "$logs/lock" sh -c 'head -n 1 "$0"; sed -i 1d "$0"' "$logs/todo"; }

# Kept running between groups; the end of this script ends it.
machine() {
	local group
	export PMEND_VM=$1
	# Valgrind reads the C library's debug information each time it starts, which takes longer than the rest of its start, and no test needs it
	tools/guest "$arch" run mount -t tmpfs none /usr/lib/debug || return
	while group=$(take) && [ -n "$group" ]; do
		timeout 2400 tools/guest "$arch" run tests/run.py "$group" >"$logs/$group.log" 2>&1 # a machine that hangs must not keep us forever
		grep -vE '^[0-9]+ passed, ' "$logs/$group.log"
	done
}

for name in "${machines[@]}"; do
	machine "$name" &
done
wait
for group in $groups; do
	grep -qE '^[0-9]+ passed, ' "$logs/$group.log" 2>/dev/null || echo "FAIL $group did not come to its end" | tee -a "$logs/unfinished"
done

cat "$logs"/*.log | awk -F'[ ,]+' -v unfinished="$(cat "$logs/unfinished" 2>/dev/null | wc -l)" '
	/^[0-9]+ passed, [0-9]+ failed/ { passed += $1; failed += $3; skipped += $5 }
	END {
		failed += unfinished
		printf "%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
		exit failed > 0
	}'
