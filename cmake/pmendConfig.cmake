# find_package(pmend): pmend in tests of a CMake project. docs/ci.md shows how to use it.
#
#   pmend::pmend          the program
#   pmend::annotations    the header pmend.h, for target_link_libraries()
#   pmend_add_test(NAME <name> COMMAND <command> [<arg>...]
#                  [RECOVER <command> [<arg>...]] [THEN ...] [CHECK ...] [DUMP ...]
#                  [OPTIONS <option>...] [LABELS <label>...] [WORKING_DIRECTORY <folder>])
#                         a test of ctest: `pmend test` of that command. It fails if pmend finds a
#                         bug, or cannot do its work. {pool} and {} mean what they mean to pmend. A
#                         command's first word may be a target that is defined already. The
#                         recording is kept as pmend-<name>.pmt in the build folder, for replays.
#
# It works where it is installed, wherever that is moved to, and in pmend's own tree, built.
cmake_policy(PUSH)
cmake_policy(VERSION 3.16)

get_filename_component(_pmend_here "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
if(EXISTS "${_pmend_here}/../include/pmend.h")
  get_filename_component(_pmend_root "${_pmend_here}/.." ABSOLUTE)
  set(_pmend_program "${_pmend_root}/build/pmend")
else() # in PREFIX/lib/cmake/pmend
  get_filename_component(_pmend_root "${_pmend_here}/../../.." ABSOLUTE)
  set(_pmend_program "${_pmend_root}/bin/pmend")
endif()

if(NOT EXISTS "${_pmend_program}")
  set(pmend_FOUND FALSE)
  set(pmend_NOT_FOUND_MESSAGE "${_pmend_program} is not there")
  cmake_policy(POP)
  return()
endif()

if(NOT TARGET pmend::pmend)
  add_executable(pmend::pmend IMPORTED)
  set_target_properties(pmend::pmend PROPERTIES IMPORTED_LOCATION "${_pmend_program}")
  add_library(pmend::annotations INTERFACE IMPORTED)
  set_target_properties(pmend::annotations PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES "${_pmend_root}/include")
endif()

# The words of a list, the first of which may be a target: that becomes its file.
function(_pmend_words list out)
  set(words "${${list}}")
  list(GET words 0 first)
  if(TARGET "${first}")
    get_target_property(type "${first}" TYPE)
    if(type STREQUAL "EXECUTABLE")
      string(LENGTH "${first}" length)
      string(SUBSTRING "${words}" ${length} -1 words)
      string(PREPEND words "$<TARGET_FILE:${first}>")
    endif()
  endif()
  set(${out} "${words}" PARENT_SCOPE)
endfunction()

# One command line, which pmend splits into these words again; one element of a list.
function(_pmend_line list out)
  _pmend_words(${list} words)
  set(line "")
  foreach(word IN LISTS words)
    if(NOT word MATCHES "^[A-Za-z0-9_./{}:=+,@%-]+$")
      string(REPLACE "'" "'\\''" word "${word}")
      set(word "'${word}'")
    endif()
    string(APPEND line " ${word}")
  endforeach()
  string(STRIP "${line}" line)
  string(REPLACE ";" "\\;" line "${line}")
  set(${out} "${line}" PARENT_SCOPE)
endfunction()

function(pmend_add_test)
  set(lines RECOVER THEN CHECK DUMP)
  cmake_parse_arguments(PARSE_ARGV 0 arg "" "NAME;WORKING_DIRECTORY"
    "COMMAND;OPTIONS;LABELS;${lines}")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "pmend_add_test: unknown: ${arg_UNPARSED_ARGUMENTS}")
  elseif(NOT arg_NAME OR NOT arg_COMMAND)
    message(FATAL_ERROR "pmend_add_test needs NAME and COMMAND")
  endif()
  set(options "")
  foreach(line IN LISTS lines)
    if(arg_${line})
      string(TOLOWER "--${line}" option)
      _pmend_line(arg_${line} text)
      string(APPEND options ";${option};${text}")
    endif()
  endforeach()
  _pmend_words(arg_COMMAND command)
  set(folder "")
  if(arg_WORKING_DIRECTORY)
    set(folder WORKING_DIRECTORY "${arg_WORKING_DIRECTORY}")
  endif()
  if(NOT "--trace" IN_LIST arg_OPTIONS)
    # replays name it, wherever ctest is started, and each test has its own
    string(REGEX REPLACE "[^A-Za-z0-9_.-]" "_" file "${arg_NAME}")
    list(APPEND arg_OPTIONS --trace "${CMAKE_CURRENT_BINARY_DIR}/pmend-${file}.pmt")
  endif()
  add_test(NAME "${arg_NAME}" ${folder}
    COMMAND pmend::pmend test ${options} ${arg_OPTIONS} -- ${command})
  set_tests_properties("${arg_NAME}" PROPERTIES LABELS "pmend;${arg_LABELS}")
endfunction()

cmake_policy(POP)
