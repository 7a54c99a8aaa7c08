# What `make install` puts where. The objects of the library are joined into one. In the installed archive every hidden
# symbol of it is made local, so that a program that links it meets only strata_* names. The shared library is that
# object, and so is the program after link-time optimisation, which takes minutes.
include(GNUInstallDirs)
set(CMAKE_INSTALL_LIBDIR lib) # strata.pc counts on it

file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/install)

if(EXISTS ${CMAKE_SOURCE_DIR}/include/strata/strata.h)
    set(joined ${CMAKE_BINARY_DIR}/install/joined.o)
    set(local ${CMAKE_BINARY_DIR}/install/strata.o)
    set(archive ${CMAKE_BINARY_DIR}/install/libstrata.a)
    separate_arguments(flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
    if(CMAKE_INTERPROCEDURAL_OPTIMIZATION) # without this the joined object keeps its hidden names
        list(APPEND flags -flto=auto -flinker-output=nolto-rel -ffunction-sections -fdata-sections)
        target_sources(strata PRIVATE ${joined})
        set_target_properties(strata PROPERTIES INTERPROCEDURAL_OPTIMIZATION OFF)
        target_link_options(strata PRIVATE -Wl,--gc-sections)
    endif()
    list(FILTER flags EXCLUDE REGEX "^-fsanitize|libasan") # runtimes are linked by the final program
    set(parts $<TARGET_OBJECTS:libstrata> $<TARGET_OBJECTS:strata_cli> $<TARGET_OBJECTS:strata_api>)
    add_custom_command(OUTPUT ${joined}
        COMMAND ${CMAKE_C_COMPILER} ${flags} -r -nostdlib -o ${joined} ${parts}
        DEPENDS libstrata strata_cli strata_api ${parts} COMMAND_EXPAND_LISTS VERBATIM)
    add_custom_command(OUTPUT ${archive}
        COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${joined} ${local}
        COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
        COMMAND ${CMAKE_AR} rcs ${archive} ${local}
        DEPENDS ${joined} VERBATIM)
    add_custom_target(archive ALL DEPENDS ${archive})
    set_source_files_properties(${joined} PROPERTIES EXTERNAL_OBJECT TRUE GENERATED TRUE)
    # libstrata.so.0. Its number changes when a function goes or changes its meaning.
    add_library(strata_shared SHARED ${joined})
    set_target_properties(strata_shared PROPERTIES OUTPUT_NAME strata SOVERSION 0 VERSION ${STRATA_VERSION}
        LINKER_LANGUAGE C LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/strata.map)
    target_link_options(strata_shared PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/strata.map
        -Wl,-Bsymbolic -Wl,--gc-sections)
    target_link_libraries(strata_shared PRIVATE ${STRATA_LINKS})
    # In a portable folder its libraries are in lib/strata, as those of the program.
    target_link_options(strata_shared PRIVATE -Wl,--disable-new-dtags)
    set_target_properties(strata_shared PROPERTIES INSTALL_RPATH "$ORIGIN/strata")
    install(TARGETS strata_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    configure_file(cmake/strata.pc.in install/strata.pc @ONLY)
    install(FILES ${archive} TYPE LIB)
    install(DIRECTORY include/strata TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
    install(FILES ${CMAKE_BINARY_DIR}/install/strata.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    add_test(NAME install.example COMMAND ${CMAKE_SOURCE_DIR}/tests/install/run
        ${CMAKE_BINARY_DIR} ${CMAKE_C_COMPILER} "${CMAKE_C_FLAGS} ${STRATA_RUNTIME}")
    if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize" AND NOT CMAKE_CROSSCOMPILING) # these are not packed
        add_test(NAME install.packages COMMAND ${CMAKE_SOURCE_DIR}/tests/install/packages.py ${CMAKE_BINARY_DIR})
    endif()
endif()

# The Python module, where the Python of the prefix looks: Debian has a folder of its own for its packages.
find_package(Python3 COMPONENTS Interpreter REQUIRED)
install(CODE "set(python_dir lib/python${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}/site-packages)
if(CMAKE_INSTALL_PREFIX STREQUAL /usr)
    set(python_dir lib/python3/dist-packages)
elseif(EXISTS /etc/debian_version)
    string(REPLACE site-packages dist-packages python_dir \${python_dir})
endif()" COMPONENT python)
install(DIRECTORY python/strata DESTINATION "\${python_dir}" COMPONENT python
    FILES_MATCHING PATTERN "*.py" PATTERN "*.pyi" PATTERN py.typed PATTERN __pycache__ EXCLUDE)
# The Python module over the shared library; recordings on stand-ins of CUDA. Into a Python that is not built for them
# the sanitizers' runtimes are preloaded.
if(TARGET strata_shared AND NOT CMAKE_CROSSCOMPILING)
    find_program(DEBIAN_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH) # the one that has Debian's NumPy
    add_test(NAME python.module COMMAND ${DEBIAN_PYTHON} ${CMAKE_SOURCE_DIR}/tests/python/check.py
        $<TARGET_FILE:strata_shared> ${CMAKE_BINARY_DIR}/tests/fake-cupti/libcuda.so.1
        ${CMAKE_BINARY_DIR}/tests/fake-cupti/libcupti.so $<TARGET_FILE:inject>)
    if(CMAKE_C_FLAGS MATCHES "fsanitize=.*address")
        execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libclang_rt.asan-x86_64.so
            OUTPUT_VARIABLE libasan OUTPUT_STRIP_TRAILING_WHITESPACE)
        set_tests_properties(python.module PROPERTIES ENVIRONMENT
            "LD_PRELOAD=${libasan};ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=4")
    endif()
endif()

if(NOT TARGET strata)
    return()
endif()
# A portable folder (tools/tarball) has the libraries of the program beside it; DT_RPATH also holds
# for what these need.
target_link_options(strata PRIVATE -Wl,--disable-new-dtags)
set_target_properties(strata PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}/strata")
install(TARGETS strata)
# The headers with which PTO kernels in C++ compile; the program has its own copy of them.
install(DIRECTORY data/pto-host/ DESTINATION ${CMAKE_INSTALL_DATADIR}/strata/pto-host/include
    PATTERN strata EXCLUDE)
install(FILES include/strata/pto_host.h
    DESTINATION ${CMAKE_INSTALL_DATADIR}/strata/pto-host/include/strata)
# What help, man pages and skills cite (src/cli/installed.h): examples, documents, tables to begin from. Instructions
# for coding agents; `strata skills install` has its own copy of them.
set(share ${CMAKE_INSTALL_DATADIR}/strata)
install(DIRECTORY examples/ DESTINATION ${share}/examples
    PATTERN c EXCLUDE PATTERN diagnose EXCLUDE PATTERN gpu EXCLUDE)
install(DIRECTORY examples/gpu/specs DESTINATION ${share}/examples/gpu)
install(DIRECTORY docs/ DESTINATION ${share}/docs FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN schema EXCLUDE)
install(FILES data/perfdb/axis_density.yaml DESTINATION ${share}/data/perfdb)
install(DIRECTORY data/skills/ DESTINATION ${share}/skills)
install(TARGETS inject LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/strata)
if(TARGET mpi)
    install(TARGETS mpi LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/strata)
endif()

# Man pages and completions are printed by the program from its command tables.
set(made ${CMAKE_BINARY_DIR}/install)
function(printed_by_strata file) # printed_by_strata(FILE ARGUMENTS...)
    add_custom_command(OUTPUT ${made}/${file} COMMAND strata ${ARGN} > ${made}/${file}
        DEPENDS strata VERBATIM)
    set(printed ${printed} ${made}/${file} PARENT_SCOPE)
endfunction()

file(STRINGS src/cli/commands.def commands REGEX "^COMMAND\\(")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/cli/commands.def)
printed_by_strata(strata.1 help --man)
foreach(line IN LISTS commands)
    string(REGEX REPLACE "^COMMAND\\(([a-z0-9_]+)\\).*" "\\1" command "${line}")
    printed_by_strata(strata-${command}.1 help --man ${command})
endforeach()
install(FILES ${printed} DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(CODE "set(man \${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_MANDIR}/man1)
set(share \${CMAKE_INSTALL_PREFIX}/${share})")
install(SCRIPT cmake/installed-paths.cmake)
find_program(MANDOC mandoc)
if(MANDOC)
    add_test(NAME docs.man COMMAND ${MANDOC} -Tlint -Wwarning ${printed})
endif()

if("COMMAND(completion)" IN_LIST commands)
    printed_by_strata(strata.bash completion bash)
    printed_by_strata(_strata completion zsh)
    printed_by_strata(strata.fish completion fish)
    install(FILES ${made}/strata.bash RENAME strata
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${made}/_strata DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${made}/strata.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()
add_custom_target(printed ALL DEPENDS ${printed})
if(NOT CMAKE_CROSSCOMPILING AND NOT CMAKE_C_FLAGS MATCHES "-fsanitize") # slow there; help.examples finds the same
    add_test(NAME install.commands COMMAND ${CMAKE_SOURCE_DIR}/tests/install/examples ${CMAKE_BINARY_DIR})
endif()

