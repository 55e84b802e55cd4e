# What the library stands on; docs/dependencies.md has the reasons and licences.
find_package(PkgConfig REQUIRED)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(QHULL REQUIRED IMPORTED_TARGET qhull_r)
pkg_check_modules(FYAML REQUIRED IMPORTED_TARGET libfyaml)
pkg_check_modules(LAPACKE REQUIRED IMPORTED_TARGET lapacke)
pkg_check_modules(HDF5 REQUIRED IMPORTED_TARGET hdf5-serial)
pkg_check_modules(PNG REQUIRED IMPORTED_TARGET libpng)

# SuiteSparse ships no package files in Debian 12.
find_path(SUITESPARSE_INCLUDE cholmod.h PATH_SUFFIXES suitesparse REQUIRED)
find_library(CHOLMOD_LIBRARY cholmod REQUIRED)
find_library(KLU_LIBRARY klu REQUIRED)
add_library(carom_suitesparse INTERFACE)
target_include_directories(carom_suitesparse SYSTEM INTERFACE ${SUITESPARSE_INCLUDE})
target_link_libraries(carom_suitesparse INTERFACE ${CHOLMOD_LIBRARY} ${KLU_LIBRARY})

# Threads are optional: without OpenMP everything runs on one.
find_package(OpenMP COMPONENTS C)

# Planning (carom plan) is optional: without Ipopt the library says what is missing when it is asked to plan.
pkg_check_modules(IPOPT QUIET IMPORTED_TARGET ipopt)
if(NOT IPOPT_FOUND)
  message(STATUS "Planning: left out (needs Ipopt; Debian: coinor-libipopt-dev)")
endif()

# Fitting recorded pushes (carom push fit) likewise, without NLopt.
pkg_check_modules(NLOPT QUIET IMPORTED_TARGET nlopt)
if(NOT NLOPT_FOUND)
  message(STATUS "Fitting of pushes: left out (needs NLopt; Debian: libnlopt-dev)")
endif()

# PETSc/TAO with its MPI, for the plug-in libcarom_tao.so: on when found, and never needed.
pkg_check_modules(PETSC IMPORTED_TARGET PETSc)
pkg_check_modules(MPI IMPORTED_TARGET mpi-c)
if(PETSC_FOUND AND MPI_FOUND)
  set(petsc_there ON)
else()
  set(petsc_there OFF)
endif()
option(CAROM_PETSC "Build the plug-in for PETSc/TAO over MPI" ${petsc_there})
if(CAROM_PETSC AND NOT petsc_there)
  message(FATAL_ERROR "CAROM_PETSC is ON, but pkg-config finds no PETSc or mpi-c (packages petsc-dev and libopenmpi-dev)")
endif()
