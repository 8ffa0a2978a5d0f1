#!/bin/bash
# `make bench`. Absolute times mean nothing on a shared or emulated machine; ratios do.
cd "$(dirname "$0")/.."
python3 bench/record.py
build/bench/read_speed
build/bench/model_speed
python3 bench/crash.py
python3 bench/races
python3 bench/undecided
build/bench/crash_runner build/libexec/pmend/libpmend_rt.so build/bench/crash_recovery
