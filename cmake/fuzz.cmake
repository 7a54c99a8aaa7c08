# Each tests/fuzz/fuzz_<name>.c defines LLVMFuzzerTestOneInput(). The asan preset makes a fuzzer of
# it; every other preset links it with replay_main.c. Tests run it over tests/fuzz/corpus/<name>/.
# A corpus folder with no harness of its own name is an input format for fuzz_input.c.
file(GLOB harnesses CONFIGURE_DEPENDS tests/fuzz/fuzz_*.c)
file(GLOB corpora CONFIGURE_DEPENDS LIST_DIRECTORIES true tests/fuzz/corpus/*)
add_custom_target(fuzzers)

foreach(file IN LISTS harnesses)
    cmake_path(GET file STEM target)
    add_executable(${target} EXCLUDE_FROM_ALL ${file})
    if(STRATA_FUZZ)
        target_link_options(${target} PRIVATE -fsanitize=fuzzer -static-libsan)
    else()
        target_sources(${target} PRIVATE tests/fuzz/replay_main.c)
    endif()
    add_dependencies(unit ${target})
    add_dependencies(fuzzers ${target})
    # The entry has no header. A source's own options come last, behind -Wmissing-prototypes.
    set_source_files_properties(${file} PROPERTIES COMPILE_OPTIONS -Wno-missing-prototypes)
    target_include_directories(${target} PRIVATE tests/support)
    target_link_libraries(${target} PRIVATE strata_flags libstrata)
    string(REPLACE "fuzz_" "" name ${target})
    if(NOT name STREQUAL "input")
        list(APPEND corpora ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name}) # absent: the test says so
    endif()
endforeach()

target_sources(fuzz_input PRIVATE tests/fuzz/check_diagnose.c)

list(REMOVE_DUPLICATES corpora)
if(STRATA_FUZZ)
    set(once -runs=0)
endif()
foreach(folder IN LISTS corpora)
    cmake_path(GET folder FILENAME name)
    if(TARGET fuzz_${name})
        add_test(NAME corpus.${name} COMMAND ${start} $<TARGET_FILE:fuzz_${name}> ${once} ${folder})
    else()
        add_test(NAME corpus.${name} COMMAND ${start} $<TARGET_FILE:fuzz_input> ${once} ${folder})
        set_tests_properties(corpus.${name} PROPERTIES ENVIRONMENT FUZZ_FORMAT=${name})
    endif()
endforeach()
