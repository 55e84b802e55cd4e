# The public headers against the library: one process per case of tests/api/check_headers.py.
find_program(CAROM_HEADERS_PYTHON NAMES python3)
find_program(CAROM_HEADERS_CXX NAMES g++ clang++ c++)
set(header_check ${CMAKE_CURRENT_SOURCE_DIR}/api/check_headers.py)
if(CAROM_HEADERS_PYTHON AND CMAKE_NM)
  file(STRINGS ${header_check} lines REGEX "^def case_")
  foreach(line ${lines})
    string(REGEX REPLACE "^def case_([a-z0-9_]+).*" "\\1" name ${line})
    add_test(NAME headers.${name}
             COMMAND ${CAROM_HEADERS_PYTHON} ${header_check} ${PROJECT_SOURCE_DIR}/include $<TARGET_FILE:carom_shared>
                     $<TARGET_FILE:carom_static> ${CMAKE_NM} ${CMAKE_C_COMPILER} ${CAROM_HEADERS_CXX} ${name})
    set_tests_properties(headers.${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${CAROM_HANG} LABELS python)
  endforeach()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${header_check})
else()
  message(STATUS "headers.*: left out (needs python3 and nm)")
endif()
