# bench_<name> from tests/bench/bench_<name>.c; tests/bench/workloads says how they are run.
file(GLOB benches CONFIGURE_DEPENDS tests/bench/bench_*.c)
add_executable(bench_measure EXCLUDE_FROM_ALL tests/bench/measure.c)
target_link_libraries(bench_measure PRIVATE strata_flags)
add_custom_target(benches DEPENDS bench_measure)
foreach(file IN LISTS benches)
    cmake_path(GET file STEM target)
    add_executable(${target} EXCLUDE_FROM_ALL ${file})
    target_link_libraries(${target} PRIVATE strata_flags libstrata)
    add_dependencies(benches ${target})
endforeach()
target_link_libraries(bench_make_gpu_trace PRIVATE strata_inject)
target_link_libraries(bench_pto PRIVATE strata_api)

# The yardstick is C++: compiled by itself, so that the project stays C alone.
find_library(SIMDJSON simdjson)
find_program(CXX_PROGRAM NAMES c++ g++ clang++)
if(SIMDJSON AND CXX_PROGRAM)
    add_custom_command(OUTPUT ${CMAKE_BINARY_DIR}/simdjson_fields
        COMMAND ${CXX_PROGRAM} -O3 -std=c++17 ${CMAKE_SOURCE_DIR}/tests/bench/simdjson_fields.cpp
            ${SIMDJSON} -o ${CMAKE_BINARY_DIR}/simdjson_fields
        DEPENDS tests/bench/simdjson_fields.cpp VERBATIM)
    add_custom_target(bench_simdjson DEPENDS ${CMAKE_BINARY_DIR}/simdjson_fields)
    add_dependencies(benches bench_simdjson)
endif()
