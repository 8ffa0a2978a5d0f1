#!/bin/bash
# `make demo`: records a small program on persistent memory, shows what it did, judges and crashes it and a variant with a bug.
set -e
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
run() { echo; echo "\$ $*"; "$@"; }

run build/pmend record -o "$dir/log.pmt" -- build/examples/append_log "$dir/pool" hello world
run build/pmend show --kind store,clwb,sfence,dc-cvap,dsb,op-begin,op-end,output "$dir/log.pmt"
run build/pmend check "$dir/log.pmt"
run build/pmend check -- build/examples/append_log_buggy "$dir/pool2" hello || [ $? -eq 1 ]
run build/pmend crash --dump "build/examples/append_log {}" --trace "$dir/buggy.pmt" -- build/examples/append_log_buggy "$dir/pool3" hello || [ $? -eq 1 ]
run build/pmend crash --dump "build/examples/append_log {}" "$dir/log.pmt"
echo
echo "Next: docs/tutorial.md finds and fixes a bug."
echo "Your own program: build/pmend test --recover 'PROGRAM check {}' -- PROGRAM {pool}"
echo "Without a command that checks the data: build/pmend check -- PROGRAM {pool}. For CMake, servers, PMDK and others: README.md, \"What do you want to do?\""
