# libstrata-mpi.so: the one part of strata that links MPI. The program loads it for jobs of several
# ranks; without MPI's headers it is not built.
if(NOT CMAKE_CROSSCOMPILING)
    find_package(MPI COMPONENTS C QUIET)
endif()
if(NOT MPI_C_FOUND)
    message(STATUS "MPI not found: strata runs without ranks of its own")
    return()
endif()
add_library(mpi MODULE src/driver/mpi_plugin.c)
set_target_properties(mpi PROPERTIES PREFIX lib OUTPUT_NAME strata-mpi)
target_link_libraries(mpi PRIVATE strata_flags MPI::MPI_C)
