# What `make install` puts where. The installed archive is not the one the program links: its
# objects are joined into one and every hidden symbol is made local, so that a program that links
# it meets only strata_* names.
include(GNUInstallDirs)
set(CMAKE_INSTALL_LIBDIR lib) # strata.pc counts on it

file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/install)

if(EXISTS ${CMAKE_SOURCE_DIR}/include/strata/strata.h)
    set(joined ${CMAKE_BINARY_DIR}/install/strata.o)
    set(archive ${CMAKE_BINARY_DIR}/install/libstrata.a)
    separate_arguments(flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
    if(CMAKE_INTERPROCEDURAL_OPTIMIZATION) # without this the joined object keeps its hidden names
        list(APPEND flags -flto=auto -flinker-output=nolto-rel)
    endif()
    list(FILTER flags EXCLUDE REGEX "^-fsanitize") # runtimes are linked by the final program
    add_custom_command(OUTPUT ${archive}
        COMMAND ${CMAKE_C_COMPILER} ${flags} -r -nostdlib -o ${joined} $<TARGET_OBJECTS:libstrata>
            $<TARGET_OBJECTS:strata_cli> $<TARGET_OBJECTS:strata_api>
        COMMAND ${CMAKE_OBJCOPY} --localize-hidden ${joined}
        COMMAND ${CMAKE_COMMAND} -E rm -f ${archive}
        COMMAND ${CMAKE_AR} rcs ${archive} ${joined}
        DEPENDS libstrata strata_cli strata_api $<TARGET_OBJECTS:libstrata> $<TARGET_OBJECTS:strata_cli>
            $<TARGET_OBJECTS:strata_api> COMMAND_EXPAND_LISTS VERBATIM)
    add_custom_target(archive ALL DEPENDS ${archive})
    # libstrata.so.0: the same objects. Its number changes when a function goes or changes its meaning.
    add_library(strata_shared SHARED $<TARGET_OBJECTS:libstrata> $<TARGET_OBJECTS:strata_cli>
        $<TARGET_OBJECTS:strata_api>)
    set_target_properties(strata_shared PROPERTIES OUTPUT_NAME strata SOVERSION 0 VERSION ${STRATA_VERSION}
        LINKER_LANGUAGE C LINK_DEPENDS ${CMAKE_SOURCE_DIR}/cmake/strata.map)
    target_link_options(strata_shared PRIVATE -Wl,--version-script=${CMAKE_SOURCE_DIR}/cmake/strata.map
        -Wl,-Bsymbolic)
    target_link_libraries(strata_shared PRIVATE ${STRATA_LINKS})
    install(TARGETS strata_shared LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
    configure_file(cmake/strata.pc.in install/strata.pc @ONLY)
    install(FILES ${archive} TYPE LIB)
    install(DIRECTORY include/strata TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
    install(FILES ${CMAKE_BINARY_DIR}/install/strata.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
    add_test(NAME install.example COMMAND ${CMAKE_SOURCE_DIR}/tests/install/run
        ${CMAKE_BINARY_DIR} ${CMAKE_C_COMPILER} "${CMAKE_C_FLAGS}")
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
