#!/bin/bash
# `make demo`: records a small program on persistent memory and shows what it did.
set -e
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
run() { echo; echo "\$ $*"; "$@"; }

run build/pmend record -o "$dir/log.pmt" -- build/examples/append_log "$dir/pool" hello world
run build/pmend show --kind store,clwb,sfence,op-begin,op-end,output "$dir/log.pmt"
run build/pmend show --summary "$dir/log.pmt"
echo
echo "Next: build/pmend record -- YOUR PROGRAM; build/pmend show --stacks pmend.pmt"
