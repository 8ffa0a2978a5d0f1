#!/bin/bash
# Runs all tests. Arguments: the command that runs something on an x86-64 machine, if this is none; then the tests are shared out
# to two such machines, because an emulated one uses one core only. The last line counts them all.
cd "$(dirname "$0")/.." || exit 1
[ $# -gt 0 ] || exec tests/run.py

logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT
PMEND_VM=second "$@" tests/run.py cli corpus >"$logs/second" 2>&1 &
"$@" tests/run.py includes unit unit-asan fuzz recorder mutants 2>&1 | tee "$logs/first" | grep --line-buffered -vE '^[0-9]+ passed, '
wait
grep -vE '^[0-9]+ passed, ' "$logs/second"

awk -F'[ ,]+' '/^[0-9]+ passed, [0-9]+ failed/ { passed += $1; failed += $3; skipped += $5; runs++ }
	END {
		if (runs != 2) {
			print "FAIL a part of the tests did not come to its end"
			failed++
		}
		printf "%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
		exit failed > 0
	}' "$logs/first" "$logs/second"
