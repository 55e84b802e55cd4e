# Result files and exports: tests that look into files with the libraries the library itself uses, and with Python.
get_property(result_targets DIRECTORY PROPERTY BUILDSYSTEM_TARGETS)
list(FILTER result_targets INCLUDE REGEX "^test_(result|export)_")
foreach(target ${result_targets})
  target_link_libraries(${target} PRIVATE PkgConfig::HDF5 ZLIB::ZLIB Threads::Threads)
endforeach()

# Debian's python3 has h5py from apt; another python on the PATH may not. The script itself says what is missing.
find_program(CAROM_TEST_PYTHON NAMES python3 PATHS /usr/bin NO_DEFAULT_PATH)
if(NOT CAROM_TEST_PYTHON)
  find_program(CAROM_TEST_PYTHON NAMES python3)
endif()
if(CAROM_TEST_PYTHON)
  foreach(kind result vtk glb)
    add_test(NAME python.check_${kind}
             COMMAND ${CAROM_TEST_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_${kind}.py $<TARGET_FILE:result_samples>)
    set_tests_properties(python.check_${kind} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${CAROM_HANG}
                         ENVIRONMENT PYTHONDONTWRITEBYTECODE=1 LABELS python)
  endforeach()
  if(TARGET carom_cli)
    add_test(NAME python.check_flow COMMAND ${CAROM_TEST_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/python/check_flow.py
             $<TARGET_FILE:carom_cli>)
    set_tests_properties(python.check_flow PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${CAROM_HANG}
                         ENVIRONMENT PYTHONDONTWRITEBYTECODE=1 LABELS python)
  endif()
  add_executable(result_samples result_samples.c)
  target_include_directories(result_samples PRIVATE ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(result_samples PRIVATE carom_flags carom_static m)
else()
  message(STATUS "python.check_*: left out (needs python3)")
endif()
