# Unit tests, golden cases, and the checks that keep documents and sources in step.
find_library(CMOCKA cmocka REQUIRED)
add_custom_target(unit) # everything that only the tests need

# Labels every test of a folder by the first part of its name (`ctest -L golden`). Those that take long
# are slow as well, and start first. Called when all tests of the folder are there.
set(slow_tests anomaly.lanes attack.self diagnosis.edited docs.examples docs.schema help.examples gpu.profile-clocks gpu.profile-results
    hostile.kernels hostile.names incore.run_msprof inject.runs install.commands pto.ops query.hostile replay.workspaces report.width signal.interrupt
    synth.truth unit.base.tables.db_table unit.kernels.incore.insight_roundtrip unit.kernels.incore.hostile unit.input.memory.in_visualize_data
    unit.synth.plant oracle.bundles oracle.damage oracle.gpu_rules oracle.gpu_timeline
    oracle.injected oracle.pto_parse oracle.roundtrip oracle.traces oracle.truth)
function(label_tests)
    get_property(names DIRECTORY PROPERTY TESTS)
    foreach(name IN LISTS names)
        string(REGEX REPLACE "\\..*" "" labels ${name})
        if(name IN_LIST slow_tests)
            list(APPEND labels slow)
            set_property(TEST ${name} PROPERTY COST 100)
        endif()
        set_property(TEST ${name} APPEND PROPERTY LABELS ${labels})
    endforeach()
endfunction()

# unit.<folder>.<module> from src/<folder>/<module>_test.c
foreach(file IN LISTS test_c)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/src OUTPUT_VARIABLE name)
    string(REGEX REPLACE "_test\\.c$" "" name ${name})
    string(REPLACE "/" "." target "unit.${name}")
    add_executable(${target} EXCLUDE_FROM_ALL ${file})
    if(name MATCHES "^(api|cli)/" AND TARGET strata_cli)
        target_link_libraries(${target} PRIVATE strata_api strata_cli)
    elseif(name MATCHES "^gpu/inject/")
        target_link_libraries(${target} PRIVATE strata_inject)
    endif()
    target_include_directories(${target} PRIVATE tests/support)
    target_link_libraries(${target} PRIVATE strata_flags libstrata ${CMOCKA})
    add_test(NAME ${target} COMMAND ${start} $<TARGET_FILE:${target}> WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    add_dependencies(unit ${target})
endforeach()

# golden.<case> from tests/golden/<case>/cmd or transcript
file(GLOB cases CONFIGURE_DEPENDS tests/golden/*/cmd tests/golden/*/transcript)
if(TARGET strata)
    foreach(file IN LISTS cases)
        cmake_path(GET file PARENT_PATH folder)
        cmake_path(GET folder FILENAME case)
        add_test(NAME golden.${case} COMMAND ${CMAKE_SOURCE_DIR}/tests/run-golden
            --bin $<PATH:GET_PARENT_PATH,${run_strata}> ${case})
    endforeach()
    add_test(NAME golden.runner COMMAND ${CMAKE_SOURCE_DIR}/tests/run-golden-test)
    add_test(NAME runner.skips COMMAND ${CMAKE_SOURCE_DIR}/tests/run-tests-test)
    add_test(NAME golden.data COMMAND ${CMAKE_SOURCE_DIR}/tests/check-data)
    add_test(NAME attack.self COMMAND ${CMAKE_SOURCE_DIR}/tests/attack/attack-test)
    add_test(NAME docs.demo COMMAND ${CMAKE_SOURCE_DIR}/tests/docs/demo
        $<PATH:GET_PARENT_PATH,${run_strata}>)
    add_test(NAME docs.words COMMAND ${CMAKE_SOURCE_DIR}/tests/docs/words
        --bin $<PATH:GET_PARENT_PATH,${run_strata}>)
    add_test(NAME docs.examples COMMAND ${CMAKE_SOURCE_DIR}/tests/run-examples
        --bin $<PATH:GET_PARENT_PATH,${run_strata}> docs)
    add_test(NAME help.examples COMMAND ${CMAKE_SOURCE_DIR}/tests/run-examples
        --bin $<PATH:GET_PARENT_PATH,${run_strata}> help)
endif()

add_test(NAME arch.layers COMMAND ${CMAKE_SOURCE_DIR}/tools/check-layers)
add_test(NAME arch.house COMMAND ${CMAKE_SOURCE_DIR}/tools/house --check)
add_test(NAME arch.diagnostics COMMAND ${CMAKE_SOURCE_DIR}/tools/check-diagnostics)
add_test(NAME arch.texts COMMAND ${CMAKE_SOURCE_DIR}/tools/check-texts)
add_test(NAME docs.causes COMMAND ${CMAKE_SOURCE_DIR}/tools/gen-causes --check)
add_test(NAME docs.page COMMAND ${CMAKE_SOURCE_DIR}/tools/gen-page --check)
add_test(NAME arch.abi COMMAND ${CMAKE_SOURCE_DIR}/tools/check-abi $<TARGET_FILE:strata_api>)
set_tests_properties(arch.abi PROPERTIES SKIP_RETURN_CODE 77)
add_test(NAME arch.new COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/new/check.py ${CMAKE_C_COMPILER}
    ${CMAKE_BINARY_DIR})
add_test(NAME docs.links COMMAND ${CMAKE_SOURCE_DIR}/tools/check-links)
add_test(NAME docs.readme COMMAND ${CMAKE_SOURCE_DIR}/tests/docs/readme)
add_test(NAME docs.packages COMMAND ${CMAKE_SOURCE_DIR}/tools/check-packages)

# oracle.<name> from tests/oracle/<name>.py: results computed apart from strata. Our samples are in
# tests/data; third-party ones, where the licence or the size keeps them out, in STRATA_SHARED.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
set_target_properties(Python3::Interpreter PROPERTIES CROSSCOMPILING_EMULATOR "") # runs here
set(STRATA_SHARED ${CMAKE_SOURCE_DIR}/../shared CACHE PATH "third-party samples for tests; may be absent")

function(add_oracle name) # PROGRAM... : what the script runs
    foreach(program IN LISTS ARGN)
        list(APPEND programs ${run_${program}})
    endforeach()
    add_test(NAME oracle.${name} COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/oracle/${name}.py
        ${programs} ${STRATA_SHARED})
    file(STRINGS tests/oracle/${name}.py third_party REGEX "Samples\\(")
    if(third_party)
        set_tests_properties(oracle.${name} PROPERTIES LABELS shared)
    endif()
endfunction()

# A program that only tests run.
function(add_test_program name)
    add_executable(${name} EXCLUDE_FROM_ALL ${ARGN})
    target_link_libraries(${name} PRIVATE strata_flags libstrata)
    add_dependencies(unit ${name})
endfunction()

add_test_program(import_counts tests/oracle/import_counts.c)
add_test_program(pto_costs tests/oracle/pto_costs.c)
add_test_program(run_ops tests/pto/run_ops.c)
add_test_program(race_mutants tests/pto/race_mutants.c)
target_include_directories(race_mutants PRIVATE tests/support)
target_include_directories(pto_costs PRIVATE tests/support)
add_test_program(gate_errors tests/compare/gate_errors.c)
add_test(NAME compare.errors COMMAND gate_errors 200)
add_test_program(run_vectors tests/incore/run_vectors.c)
file(GLOB perfdb_eval_c CONFIGURE_DEPENDS tests/perfdb/*.c)
add_test_program(perfdb-eval ${perfdb_eval_c})
add_oracle(traces import_counts)
add_oracle(pto_cost pto_costs)
add_oracle(pto_func run_ops)
if(TARGET strata)
    add_oracle(incore_run strata run_vectors)
    add_oracle(pto_races strata race_mutants)
    foreach(name perfdb perfdb_compare perfdb_grid)
        add_oracle(${name} strata perfdb-eval)
    endforeach()
    file(GLOB scripts CONFIGURE_DEPENDS tests/oracle/*.py)
    list(FILTER scripts EXCLUDE REGEX # those above, and modules that tests import
        "/(traces|pto_cost|pto_func|pto_races|incore_run|perfdb.*|samples|kernels|gen_capture)\\.py$")
    foreach(file IN LISTS scripts)
        cmake_path(GET file STEM name)
        add_oracle(${name} strata)
    endforeach()
endif()

# Verdicts on recordings that are damaged by known sizes, and on captures of others, or of ours where those are absent.
if(TARGET strata)
    add_test(NAME diagnosis.edited COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/diagnosis/edited.py
        ${run_strata})
    add_test(NAME diagnosis.field COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/diagnosis/field.py
        ${run_strata} ${STRATA_SHARED}/data/field)
    set_tests_properties(diagnosis.field PROPERTIES LABELS shared)
endif()

# Chinese reports: no English in them.
if(TARGET strata)
    add_test(NAME report.lang COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/report-lang
        ${run_strata})
endif()

# Every page and report on terminals of several widths.
if(TARGET strata)
    add_test(NAME report.width COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/width ${run_strata})
    add_test(NAME report.terminal COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/terminal ${run_strata})
endif()

# Replay workspaces: their sources compile, run on stand-ins, and their script does its steps.
if(TARGET strata)
    add_test(NAME replay.workspaces COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/replay/check.py ${run_strata})
    add_test(NAME replay.scene COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/replay/scene.py ${run_strata})
    set_tests_properties(replay.scene PROPERTIES ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
    add_test(NAME replay.upstream COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/replay/upstream.py ${run_strata})
    set_tests_properties(replay.upstream PROPERTIES SKIP_RETURN_CODE 77)
endif()

# The generator: its files, its truth, and what strata finds in them.
if(TARGET strata)
    add_test(NAME synth.truth COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/synth/check.py
        ${run_strata})
    add_test(NAME synth.plant COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/synth/plant.py
        ${run_strata} --seeds 1 --format kineto)
    add_test(NAME synth.plant-npu COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/synth/plant.py ${run_strata} --seeds 1 --format db
        --cause compute_bound --cause host_sync --cause input_pipeline --cause allocator
        --cause copy_exposed --cause comm_exposed --cause attention_unfused --cause optimizer_unfused
        --cause aicpu_exposed)
    add_test(NAME synth.examples COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/synth/examples.py ${run_strata})
    add_test(NAME synth.text-and-db COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/synth/text_and_db.py ${run_strata})
endif()

# Damaged samples: a few places of each here, more by hand (tests/oracle/damage.c).
add_test_program(damage tests/oracle/damage.c)
add_test(NAME oracle.damage COMMAND ${start} $<TARGET_FILE:damage> 5 5 1 ${CMAKE_SOURCE_DIR}/tests/data/captures
    ${STRATA_SHARED}/data/captures)
set_tests_properties(oracle.damage PROPERTIES LABELS shared)
add_test(NAME examples.damage COMMAND ${start} $<TARGET_FILE:damage> 4 4 1 ${CMAKE_SOURCE_DIR}/examples)

# Tile operations against the same computed in Python.
add_test(NAME pto.ops COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/pto/ops.py
    ${run_run_ops})
if(TARGET strata)
    add_test(NAME pto.changes COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/pto/changes.py
        ${run_strata})
    add_test(NAME pto.cpp COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/pto/cpp.py
        ${run_strata} ${CMAKE_SOURCE_DIR}/examples/pto-cpp)
    # A kernel that ends its process would have the sanitizer look for leaks, which its sandbox forbids.
    set_tests_properties(pto.cpp PROPERTIES ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
    add_test(NAME pto.pairs COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/pto/pairs.py
        ${run_strata} ${CMAKE_SOURCE_DIR}/examples/pto-cpp=${CMAKE_SOURCE_DIR}/examples/pto-cpp)
    add_test(NAME pto.cpp-run COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/pto/cpp_run.py
        ${run_strata})
    add_test(NAME pto.values COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/pto/values.py
        ${run_strata})
    add_test(NAME pto.sanity COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/pto/sanity.py
        ${run_strata})
    add_test(NAME pto.sim COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/pto/sim.py
        ${run_strata})
endif()

# What strata prints against the schemas of docs/schema; captures with one file missing.
if(TARGET strata)
    add_test(NAME docs.schema COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/schema/check.py
        ${run_strata})
    set_tests_properties(docs.schema PROPERTIES SKIP_RETURN_CODE 77)
    add_test(NAME docs.names COMMAND ${CMAKE_SOURCE_DIR}/tools/check-docs ${run_strata})
    add_test(NAME docs.schema-files COMMAND ${CMAKE_SOURCE_DIR}/tools/gen-schema
        ${run_strata} --check)
    add_test(NAME docs.pto-ops COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tools/gen-pto-ops
        ${run_strata} --check)
    add_test(NAME anomaly.missing COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/anomaly/missing.py ${run_strata})
    add_test(NAME anomaly.lanes COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/anomaly/lanes.py ${run_strata})
    add_test(NAME signal.interrupt COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/signal/interrupt.py ${run_strata})
    if(MICROHTTPD_HEADERS AND NOT CMAKE_CROSSCOMPILING)
        add_test(NAME view.hostile COMMAND Python3::Interpreter
            ${CMAKE_SOURCE_DIR}/tests/view/hostile.py ${run_strata} examples/ascend-small)
        set_tests_properties(view.hostile PROPERTIES RESOURCE_LOCK clock
            WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
    endif()
    # Every fact that two doors can give, asked at each.
    add_test(NAME agree.doors COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/agree/agree.py ${run_strata})
    set_tests_properties(agree.doors PROPERTIES TIMEOUT 600) # some 5 000 runs of the program
    if(EXISTS ${STRATA_SHARED})
        set_tests_properties(agree.doors PROPERTIES ENVIRONMENT STRATA_SHARED=${STRATA_SHARED} LABELS shared)
    endif()
    add_test(NAME agree.operators COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/agree/operators.py ${run_strata})
    add_test(NAME agree.gaps COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/agree/gaps.py ${run_strata})
    add_test(NAME agree.mixed COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/agree/mixed.py ${run_strata})
    add_test(NAME agree.self COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/agree/agree.py ${run_strata} --self)
    add_test(NAME query.hostile COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/query/hostile.py ${run_strata} 2)
    set_tests_properties(signal.interrupt query.hostile PROPERTIES RESOURCE_LOCK clock) # they bound times
    add_test(NAME mcp.client COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/mcp/check.py ${run_strata})
    set_tests_properties(mcp.client PROPERTIES RESOURCE_LOCK clock)
    add_test(NAME skills.commands COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/skills/check.py ${run_strata})
    add_test(NAME compare.cases COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/compare/cases.py ${run_strata})
    add_test(NAME compare.simulation COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/compare/simulate.py ${run_strata})
    add_test(NAME check.workflows COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/check/workflows.py ${run_strata})
    set_tests_properties(check.workflows PROPERTIES SKIP_RETURN_CODE 77)
    add_test(NAME signal.bus COMMAND Python3::Interpreter ${CMAKE_SOURCE_DIR}/tests/signal/bus.py
        ${run_strata})
endif()

# Hostile names through every command: nothing that a terminal or a document would obey. Files are
# written where the user said.
if(TARGET strata)
    add_test(NAME page.model COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/page/model.py ${run_strata})
    add_test(NAME page.structure COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/page/check.py ${run_strata})
    foreach(name names files kernels lines times)
        add_test(NAME hostile.${name} COMMAND Python3::Interpreter
            ${CMAKE_SOURCE_DIR}/tests/hostile/${name}.py ${run_strata})
        set_tests_properties(hostile.${name} PROPERTIES TIMEOUT 600) # hundreds of runs of the program
    endforeach()
endif()

# In-core traces, cleaned by the same rules written down once more.
if(TARGET strata)
    add_test(NAME incore.clean COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/incore/clean.py ${run_strata})
    add_test(NAME incore.folders COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/incore/folders.py ${run_strata}
        ${CMAKE_SOURCE_DIR}/src/render/proto/perfetto.proto)
endif()

# Every kernel of a build, with stand-ins for the vendor's tools.
if(TARGET strata)
    foreach(name run_msprof run_hostile run_resume run_cases)
        add_test(NAME incore.${name} COMMAND Python3::Interpreter
            ${CMAKE_SOURCE_DIR}/tests/incore/${name}.py ${run_strata}
            ${run_run_vectors})
        set_tests_properties(incore.${name} PROPERTIES SKIP_RETURN_CODE 77)
    endforeach()
endif()

# The operator database: tests/perfdb/*.py run the program.
file(GLOB scripts CONFIGURE_DEPENDS tests/perfdb/*.py)
if(TARGET strata)
    foreach(file IN LISTS scripts)
        cmake_path(GET file STEM name)
        add_test(NAME perfdb.${name} COMMAND Python3::Interpreter ${file} ${run_strata})
    endforeach()
endif()

# The same unit tests as several ranks, where MPI is. What MPI itself leaks is not looked at.
if(TARGET mpi AND MPIEXEC_EXECUTABLE)
    add_dependencies(unit mpi)
    add_test(NAME mpi.ranks COMMAND ${MPIEXEC_EXECUTABLE} ${MPIEXEC_NUMPROC_FLAG} 4 --oversubscribe
        $<TARGET_FILE:unit.driver.mpi>)
    add_test(NAME mpi.bench COMMAND ${CMAKE_SOURCE_DIR}/tests/mpi/bench $<TARGET_FILE:strata>
        ${MPIEXEC_EXECUTABLE})
    add_test(NAME mpi.fails COMMAND ${CMAKE_SOURCE_DIR}/tests/mpi/fails $<TARGET_FILE:strata>
        ${MPIEXEC_EXECUTABLE} ${CMAKE_SOURCE_DIR}/examples/ranks)
    add_library(fake-links MODULE EXCLUDE_FROM_ALL tests/fake-links/fake_links.c) # NCCL and HCCL without devices
    target_link_libraries(fake-links PRIVATE strata_flags)
    set_target_properties(fake-links PROPERTIES C_VISIBILITY_PRESET default)
    add_dependencies(unit fake-links)
    add_test(NAME mpi.links COMMAND ${CMAKE_SOURCE_DIR}/tests/mpi/links $<TARGET_FILE:strata>
        ${MPIEXEC_EXECUTABLE} $<TARGET_FILE:fake-links>)
    set_tests_properties(mpi.ranks mpi.bench mpi.fails mpi.links PROPERTIES ENVIRONMENT
        "OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;ASAN_OPTIONS=detect_leaks=0")
endif()

# Summaries of a job of thousands of ranks, for tests/bench and docs/performance.md.
add_executable(cluster_many EXCLUDE_FROM_ALL tests/cluster/many.c)
target_link_libraries(cluster_many PRIVATE strata_flags libstrata)

# Many ranks: random clusters against their truth; damaged and kept ones, several processes.
if(TARGET strata)
    add_test(NAME cluster.score COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/cluster/score.py ${run_strata})
    add_test(NAME cluster.faults COMMAND Python3::Interpreter
        ${CMAKE_SOURCE_DIR}/tests/cluster/faults.py ${run_strata}
        $<$<TARGET_EXISTS:mpi>:${MPIEXEC_EXECUTABLE}>)
    set_tests_properties(cluster.faults PROPERTIES ENVIRONMENT "ASAN_OPTIONS=detect_leaks=0")
endif()
