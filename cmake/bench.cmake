# bench_<name> from tests/bench/bench_<name>.c; tests/bench/workloads says how they are run.
file(GLOB benches CONFIGURE_DEPENDS tests/bench/bench_*.c)
add_custom_target(benches)
foreach(file IN LISTS benches)
    cmake_path(GET file STEM target)
    add_executable(${target} EXCLUDE_FROM_ALL ${file})
    target_link_libraries(${target} PRIVATE strata_flags libstrata)
    add_dependencies(benches ${target})
endforeach()
