# What the library stands on; docs/dependencies.md has the reasons and licences.
find_package(PkgConfig REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(QHULL REQUIRED IMPORTED_TARGET qhull_r)
pkg_check_modules(FYAML REQUIRED IMPORTED_TARGET libfyaml)
pkg_check_modules(LAPACKE REQUIRED IMPORTED_TARGET lapacke)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial)

# SuiteSparse ships no package files in Debian 12.
find_path(SUITESPARSE_INCLUDE cholmod.h PATH_SUFFIXES suitesparse REQUIRED)
find_library(CHOLMOD_LIBRARY cholmod REQUIRED)
find_library(KLU_LIBRARY klu REQUIRED)
add_library(carom_suitesparse INTERFACE)
target_include_directories(carom_suitesparse SYSTEM INTERFACE ${SUITESPARSE_INCLUDE})
target_link_libraries(carom_suitesparse INTERFACE ${CHOLMOD_LIBRARY} ${KLU_LIBRARY})

# Threads are optional: without OpenMP everything runs on one.
find_package(OpenMP COMPONENTS C)
