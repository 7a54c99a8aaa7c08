# Unit tests, golden cases, and the checks that keep documents and sources in step.
find_library(CMOCKA cmocka REQUIRED)
add_custom_target(unit) # everything that only the tests need

# unit.<folder>.<module> from src/<folder>/<module>_test.c
foreach(file IN LISTS test_c)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/src OUTPUT_VARIABLE name)
    string(REGEX REPLACE "_test\\.c$" "" name ${name})
    string(REPLACE "/" "." target "unit.${name}")
    add_executable(${target} EXCLUDE_FROM_ALL ${file})
    if(name MATCHES "^cli/" AND TARGET strata_cli)
        target_link_libraries(${target} PRIVATE strata_cli)
    elseif(name MATCHES "^inject/")
        target_link_libraries(${target} PRIVATE strata_inject)
    endif()
    target_include_directories(${target} PRIVATE tests/support)
    target_link_libraries(${target} PRIVATE strata_flags libstrata ${CMOCKA})
    add_test(NAME ${target} COMMAND ${target} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    add_dependencies(unit ${target})
endforeach()

# golden.<case> from tests/golden/<case>/cmd
file(GLOB cases CONFIGURE_DEPENDS tests/golden/*/cmd)
if(TARGET strata)
    foreach(file IN LISTS cases)
        cmake_path(GET file PARENT_PATH folder)
        cmake_path(GET folder FILENAME case)
        add_test(NAME golden.${case} COMMAND ${CMAKE_SOURCE_DIR}/tests/run-golden
            --bin $<TARGET_FILE_DIR:strata> ${case})
    endforeach()
    add_test(NAME golden.runner COMMAND ${CMAKE_SOURCE_DIR}/tests/run-golden-test)
    add_test(NAME golden.data COMMAND ${CMAKE_SOURCE_DIR}/tests/check-data)
    add_test(NAME docs.words COMMAND ${CMAKE_SOURCE_DIR}/tests/docs/words
        --bin $<TARGET_FILE_DIR:strata>)
    add_test(NAME docs.examples COMMAND ${CMAKE_SOURCE_DIR}/tests/run-examples
        --bin $<TARGET_FILE_DIR:strata> docs)
    add_test(NAME help.examples COMMAND ${CMAKE_SOURCE_DIR}/tests/run-examples
        --bin $<TARGET_FILE_DIR:strata> help)
endif()

add_test(NAME arch.layers COMMAND ${CMAKE_SOURCE_DIR}/tools/check-layers)
add_test(NAME arch.house COMMAND ${CMAKE_SOURCE_DIR}/tools/house --check)
add_test(NAME arch.diagnostics COMMAND ${CMAKE_SOURCE_DIR}/tools/check-diagnostics)
add_test(NAME arch.texts COMMAND ${CMAKE_SOURCE_DIR}/tools/check-texts)
add_test(NAME docs.links COMMAND ${CMAKE_SOURCE_DIR}/tools/check-links)
add_test(NAME docs.packages COMMAND ${CMAKE_SOURCE_DIR}/tools/check-packages)

# Numbers computed apart from strata, for a checkout with the shared samples beside it; skipped,
# and said so, elsewhere.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
if(TARGET strata)
    file(GLOB scripts CONFIGURE_DEPENDS tests/shared/*.py)
    list(FILTER scripts EXCLUDE REGEX "/(traces|pto_cost|pto_func|incore_run)\\.py$") # have programs of their own, below
    foreach(file IN LISTS scripts)
        cmake_path(GET file STEM name)
        add_test(NAME shared.${name} COMMAND Python3::Interpreter ${file} $<TARGET_FILE:strata>
            ${CMAKE_SOURCE_DIR}/../shared)
        set_tests_properties(shared.${name} PROPERTIES SKIP_RETURN_CODE 77)
    endforeach()
endif()

# Replay workspaces: their sources compile, run on stand-ins, and their script does its steps.
if(TARGET strata)
    add_test(NAME replay.workspaces COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/replay/check.py $<TARGET_FILE:strata>)
endif()

# The generator: its files, its truth, and what strata finds in them.
if(TARGET strata)
    add_test(NAME synth.truth COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/synth/check.py
        $<TARGET_FILE:strata>)
    add_test(NAME synth.examples COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/synth/examples.py $<TARGET_FILE:strata>)
    add_test(NAME synth.text-and-db COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/synth/text_and_db.py $<TARGET_FILE:strata>)
endif()
add_executable(import_counts EXCLUDE_FROM_ALL tests/shared/import_counts.c)
target_link_libraries(import_counts PRIVATE strata_flags libstrata)
add_dependencies(unit import_counts)
add_test(NAME shared.traces COMMAND Python3::Interpreter
    ${CMAKE_SOURCE_DIR}/tests/shared/traces.py $<TARGET_FILE:import_counts> ${CMAKE_SOURCE_DIR}/../shared)
set_tests_properties(shared.traces PROPERTIES SKIP_RETURN_CODE 77)
add_executable(pto_costs EXCLUDE_FROM_ALL tests/shared/pto_costs.c)
target_link_libraries(pto_costs PRIVATE strata_flags libstrata)
add_dependencies(unit pto_costs)
add_test(NAME shared.pto_cost COMMAND Python3::Interpreter
    ${CMAKE_SOURCE_DIR}/tests/shared/pto_cost.py $<TARGET_FILE:pto_costs> ${CMAKE_SOURCE_DIR}/../shared)
set_tests_properties(shared.pto_cost PROPERTIES SKIP_RETURN_CODE 77)

# Damaged samples: a few places of each here, more by hand (tests/shared/damage.c).
add_executable(damage EXCLUDE_FROM_ALL tests/shared/damage.c)
target_link_libraries(damage PRIVATE strata_flags libstrata)
add_dependencies(unit damage)
add_test(NAME shared.damage COMMAND damage ${CMAKE_SOURCE_DIR}/../shared/data/captures 5 5)
set_tests_properties(shared.damage PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME examples.damage COMMAND damage ${CMAKE_SOURCE_DIR}/examples 4 4)

# Tile operations against recorded bytes, and against the same computed in Python.
add_executable(run_ops EXCLUDE_FROM_ALL tests/pto/run_ops.c)
target_link_libraries(run_ops PRIVATE strata_flags libstrata)
add_dependencies(unit run_ops)
add_test(NAME shared.pto_func COMMAND Python3::Interpreter
    ${CMAKE_SOURCE_DIR}/tests/shared/pto_func.py $<TARGET_FILE:run_ops> ${CMAKE_SOURCE_DIR}/../shared)
set_tests_properties(shared.pto_func PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME pto.ops COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/pto/ops.py
    $<TARGET_FILE:run_ops>)

if(TARGET strata)
    add_test(NAME pto.sim COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/pto/sim.py
        $<TARGET_FILE:strata>)
endif()

# What strata prints against the schemas of docs/schema; captures with one file missing.
if(TARGET strata)
    add_test(NAME docs.schema COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/schema/check.py
        $<TARGET_FILE:strata>)
    set_tests_properties(docs.schema PROPERTIES SKIP_RETURN_CODE 77)
    add_test(NAME docs.names COMMAND ${CMAKE_SOURCE_DIR}/tools/check-docs $<TARGET_FILE:strata>)
    add_test(NAME docs.schema-files COMMAND ${CMAKE_SOURCE_DIR}/tools/gen-schema
        $<TARGET_FILE:strata> --check)
    add_test(NAME anomaly.missing COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/anomaly/missing.py $<TARGET_FILE:strata>)
    add_test(NAME signal.bus COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/signal/bus.py
        $<TARGET_FILE:strata>)
endif()

# In-core traces, cleaned by the same rules written down once more.
if(TARGET strata)
    add_test(NAME incore.clean COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/incore/clean.py $<TARGET_FILE:strata>)
    add_test(NAME incore.folders COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/incore/folders.py $<TARGET_FILE:strata>
        ${CMAKE_SOURCE_DIR}/src/render/proto/perfetto.proto)
endif()

# Every kernel of a build: parts alone, and the whole with stand-ins for the vendor's tools.
add_executable(run_vectors EXCLUDE_FROM_ALL tests/incore/run_vectors.c)
target_link_libraries(run_vectors PRIVATE strata_flags libstrata)
add_dependencies(unit run_vectors)
if(TARGET strata)
    add_test(NAME shared.incore_run COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/shared/incore_run.py $<TARGET_FILE:strata>
        $<TARGET_FILE:run_vectors> ${CMAKE_SOURCE_DIR}/../shared)
    set_tests_properties(shared.incore_run PROPERTIES SKIP_RETURN_CODE 77)
    foreach(name run_msprof run_hostile run_resume run_cases)
        add_test(NAME incore.${name} COMMAND Python3::Interpreter
            ${CMAKE_SOURCE_DIR}/tests/incore/${name}.py $<TARGET_FILE:strata>
            $<TARGET_FILE:run_vectors>)
        set_tests_properties(incore.${name} PROPERTIES SKIP_RETURN_CODE 77)
    endforeach()
endif()

# The operator database: perfdb-eval calls its functions, tests/perfdb/*.py run the program.
file(GLOB perfdb_eval_c CONFIGURE_DEPENDS tests/perfdb/*.c)
add_executable(perfdb-eval EXCLUDE_FROM_ALL ${perfdb_eval_c})
target_link_libraries(perfdb-eval PRIVATE strata_flags libstrata)
add_dependencies(unit perfdb-eval)
file(GLOB scripts CONFIGURE_DEPENDS tests/perfdb/*.py)
if(TARGET strata)
    foreach(file IN LISTS scripts)
        cmake_path(GET file STEM name)
        add_test(NAME perfdb.${name} COMMAND Python3::Interpreter ${file} $<TARGET_FILE:strata>)
    endforeach()
endif()
