# A fixed sample of what `make torture` does in full. The saboteur stands in for malloc, as sanitizers do: not both.
find_package(Python3 QUIET COMPONENTS Interpreter)
string(FIND "${CMAKE_C_FLAGS}" "-fsanitize" sanitized)
if(NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT sanitized EQUAL -1)
  return()
endif()
add_library(saboteur SHARED torture/saboteur.c)
target_link_libraries(saboteur PRIVATE carom_flags ${CMAKE_DL_LIBS} pthread)
if(Python3_Interpreter_FOUND)
  foreach(part corrupt:60 allocations:92 kills:12 disks:18 memory:4)
    string(REPLACE ":" ";" part ${part})
    list(GET part 0 name)
    list(GET part 1 count)
    add_test(NAME torture.${name} COMMAND Python3::Interpreter ${CMAKE_CURRENT_SOURCE_DIR}/torture/torture.py
             $<TARGET_FILE:carom_cli> $<TARGET_FILE:saboteur> --jobs 1 --${name} ${count}
             --keep ${CMAKE_CURRENT_BINARY_DIR}/torture)
    set_tests_properties(torture.${name} PROPERTIES TIMEOUT ${CAROM_HANG} LABELS "cli;python")
  endforeach()
endif()
