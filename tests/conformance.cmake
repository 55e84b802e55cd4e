# The conformance matrix: one process per scene, all integrators and both steps in it (docs/conformance.md).
if(NOT (GLPK_LIBRARY AND GLPK_INCLUDE_DIR))
  message(STATUS "conformance: left out (needs GLPK)")
  return()
endif()
set(conformance ${CMAKE_CURRENT_SOURCE_DIR}/conformance)
file(GLOB conformance_sources CONFIGURE_DEPENDS ${conformance}/*.c)
add_executable(conformance ${conformance_sources})
target_include_directories(conformance PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${conformance})
target_compile_definitions(conformance PRIVATE CONFORMANCE_SCENES="${conformance}/scenes"
                           CONFORMANCE_KNOWN="${conformance}/known-wrong.txt")
target_include_directories(conformance SYSTEM PRIVATE ${GLPK_INCLUDE_DIR})
target_link_libraries(conformance PRIVATE carom_flags carom_shared ${GLPK_LIBRARY} m)
set_target_properties(conformance PROPERTIES C_VISIBILITY_PRESET default) # the malloc that counts
file(GLOB conformance_families CONFIGURE_DEPENDS ${conformance}/*.c)
foreach(source ${conformance_families})
  file(STRINGS ${source} rows REGEX "^    {\"[a-z0-9-]+\",")
  foreach(row ${rows})
    string(REGEX REPLACE "^    {\"([a-z0-9-]+)\".*" "\\1" name ${row})
    add_test(NAME conformance.${name} COMMAND conformance ${name} --quiet)
    set_tests_properties(conformance.${name} PROPERTIES TIMEOUT ${CAROM_HANG} LABELS "conformance;long" ENVIRONMENT OMP_WAIT_POLICY=passive)
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
endforeach()

# A sample of the random scenes; `make conformance` runs 500.
foreach(first 0 10 20 30 40 50 60 70 80 90)
  add_test(NAME conformance.random_${first} COMMAND conformance --random ${first}+10 --quiet)
  set_tests_properties(conformance.random_${first} PROPERTIES TIMEOUT ${CAROM_HANG} LABELS "conformance;long"
                       ENVIRONMENT OMP_WAIT_POLICY=passive)
endforeach()
