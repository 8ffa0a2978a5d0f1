missing.o: crash/missing.c crash/missing.h crash/findings/exploration.h \
  crash/index/index.h crash/states/walk.h crash/states/image.h \
  model/model.h trace/trace.h include/pmtrace.h util/error.h util/vec.h \
  util/alloc.h util/wire.h util/map.h crash/states/plan.h \
  crash/states/declared.h model/cut.h include/pmend_run.h \
  crash/shadow/shadow.h crash/shadow/commits.h crash/states/whatif.h \
  crash/races/races.h crash/races/race.h crash/races/race_table.h \
  crash/search/explorer.h crash/search/surroundings.h \
  crash/search/death.h crash/run/runner.h crash/search/known_losses.h \
  crash/states/narrowing.h crash/states/states.h util/big.h \
  crash/search/run_reads.h crash/search/verdict.h crash/search/outputs.h \
  crash/search/seen.h crash/states/sparse.h crash/search/window.h \
  crash/races/race_turns.h crash/representative/representative.h \
  crash/representative/groups.h crash/representative/shape.h \
  crash/representative/epochs.h crash/representative/graph.h \
  source/types.h trace/symbols.h crash/search/dump_texts.h \
  crash/search/explain.h crash/search/choices.h crash/search/minimise.h

crash/missing.h:

crash/findings/exploration.h:

crash/index/index.h:

crash/states/walk.h:

crash/states/image.h:

model/model.h:

trace/trace.h:

include/pmtrace.h:

util/error.h:

util/vec.h:

util/alloc.h:

util/wire.h:

util/map.h:

crash/states/plan.h:

crash/states/declared.h:

model/cut.h:

include/pmend_run.h:

crash/shadow/shadow.h:

crash/shadow/commits.h:

crash/states/whatif.h:

crash/races/races.h:

crash/races/race.h:

crash/races/race_table.h:

crash/search/explorer.h:

crash/search/surroundings.h:

crash/search/death.h:

crash/run/runner.h:

crash/search/known_losses.h:

crash/states/narrowing.h:

crash/states/states.h:

util/big.h:

crash/search/run_reads.h:

crash/search/verdict.h:

crash/search/outputs.h:

crash/search/seen.h:

crash/states/sparse.h:

crash/search/window.h:

crash/races/race_turns.h:

crash/representative/representative.h:

crash/representative/groups.h:

crash/representative/shape.h:

crash/representative/epochs.h:

crash/representative/graph.h:

source/types.h:

trace/symbols.h:

crash/search/dump_texts.h:

crash/search/explain.h:

crash/search/choices.h:

crash/search/minimise.h:
