# data/**: defaults that users may replace by files of their own, compiled into the library, and the
# captures of `strata demo`. base/files/embedded.h finds them by their path below data/; examples by their
# path from the root.
file(GLOB_RECURSE data_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR}/data data/*)
list(FILTER data_files EXCLUDE REGEX "README\\.md$|^text/") # texts: see text.cmake
list(TRANSFORM data_files PREPEND ${CMAKE_SOURCE_DIR}/data/ OUTPUT_VARIABLE data_paths)
file(GLOB demo_files CONFIGURE_DEPENDS RELATIVE ${CMAKE_SOURCE_DIR} examples/unpinned/*.gz)
list(TRANSFORM demo_files PREPEND ${CMAKE_SOURCE_DIR}/ OUTPUT_VARIABLE demo_paths)
list(APPEND data_files ${demo_files})
list(SORT data_files)
set(embedded_c ${CMAKE_BINARY_DIR}/embedded_table.c)
add_custom_command(OUTPUT ${embedded_c}
    COMMAND ${CMAKE_COMMAND} "-DROOT=${CMAKE_SOURCE_DIR}" "-DFILES=${data_files}"
        -DOUT=${embedded_c} -P ${CMAKE_SOURCE_DIR}/cmake/embed-table.cmake
    DEPENDS ${data_paths} ${demo_paths} ${CMAKE_SOURCE_DIR}/cmake/embed-table.cmake VERBATIM)
target_sources(libstrata PRIVATE ${embedded_c})
