# Programs of a cross build run under CMAKE_CROSSCOMPILING_EMULATOR. CTest does that for tests that
# are programs; scripts start one by its path, ${run_<target>}: the program, or a script around it.
# ${start} is what stands before a program in a test: CTest then looks for the program when it runs, and does not
# complain about those that are not built when it lists tests.
set(start ${CMAKE_CROSSCOMPILING_EMULATOR})
if(NOT CMAKE_CROSSCOMPILING_EMULATOR)
    set(start /usr/bin/env)
endif()
foreach(target strata import_counts pto_costs run_ops run_vectors race_mutants perfdb-eval json_dump write_sample
        fake_host gpu_trace_dump)
    set(run_${target} $<TARGET_FILE:${target}>)
    if(CMAKE_CROSSCOMPILING_EMULATOR)
        file(GENERATE OUTPUT run/${target}
            CONTENT "#!/bin/sh\nexec ${CMAKE_CROSSCOMPILING_EMULATOR} '${run_${target}}' \"$@\"\n"
            FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
        set(run_${target} ${CMAKE_BINARY_DIR}/run/${target})
    endif()
endforeach()

# tests/emulated.txt: tests left out under the emulator, "regex: reason" in each line. Call it when
# all tests are known.
function(leave_out_tests)
    file(STRINGS ${CMAKE_SOURCE_DIR}/tests/emulated.txt lines REGEX "^[^#]")
    get_property(folders DIRECTORY PROPERTY SUBDIRECTORIES)
    foreach(folder IN LISTS CMAKE_CURRENT_SOURCE_DIR folders)
        get_property(names DIRECTORY ${folder} PROPERTY TESTS)
        list(APPEND tests ${names})
    endforeach()
    foreach(line IN LISTS lines)
        string(REGEX REPLACE ": .*" "" regex "${line}")
        set(matching ${tests})
        list(FILTER matching INCLUDE REGEX "^(${regex})$")
        if(NOT matching)
            message(SEND_ERROR "tests/emulated.txt: no test is named ${regex}")
        endif()
        list(APPEND left_out ${matching})
    endforeach()
    list(REMOVE_DUPLICATES left_out)
    list(JOIN left_out "\n    " text)
    file(WRITE ${CMAKE_BINARY_DIR}/CTestCustom.cmake
        "set(CTEST_CUSTOM_TESTS_IGNORE\n    ${text})\n")
    list(LENGTH tests n)
    list(LENGTH left_out n_left_out)
    message(STATUS "${n_left_out} of ${n} tests are left out under the emulator: tests/emulated.txt")
endfunction()
