#!/bin/bash
# `make demo`: records a small program on persistent memory, shows what it did, and judges it and a variant with a bug.
set -e
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
run() { echo; echo "\$ $*"; "$@"; }

run build/pmend record -o "$dir/log.pmt" -- build/examples/append_log "$dir/pool" hello world
run build/pmend show --kind store,clwb,sfence,op-begin,op-end,output "$dir/log.pmt"
run build/pmend check "$dir/log.pmt"
run build/pmend check -- build/examples/append_log_buggy "$dir/pool2" hello || [ $? -eq 1 ]
echo
echo "Next: build/pmend check -- YOUR PROGRAM"
