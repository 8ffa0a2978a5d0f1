#!/bin/bash
# `make bench`. Absolute times mean nothing on a shared or emulated machine; ratios do.
cd "$(dirname "$0")/.."
python3 bench/record.py
build/bench/read_speed
build/bench/model_speed
folder=$(mktemp -d -p /dev/shm)
build/pmend record -q -o "$folder/persist.pmt" -- build/bench/persist "$folder/pool" 2000
build/pmend record -q -o "$folder/sparse.pmt" -- build/bench/sparse "$folder/pool" 2000 4096
build/pmend record -q -o "$folder/list.pmt" -- build/bench/pmemobj_list "$folder/pool" 20000
rm "$folder/pool"
build/bench/check_speed build/pmend "$folder"/*.pmt
rm -r "$folder"
python3 bench/crash.py
python3 bench/races
python3 bench/undecided
for mib in 1 8; do # 8: PMDK's smallest pool
	build/bench/crash_runner build/libexec/pmend/libpmend_rt.so build/bench/crash_recovery 10 $mib
done
pool=$(mktemp -p /dev/shm)
build/bench/crash_recovery "$pool" 2000 >/dev/null
rm "$pool"
