# web/: the script and styles of the page, bundled by esbuild and compiled into the library with the
# sums that the page's Content-Security-Policy names (page/page.h).
find_program(ESBUILD esbuild REQUIRED)
file(GLOB_RECURSE web_files CONFIGURE_DEPENDS web/src/*.ts web/src/*.tsv web/src/*.css)
set(made_web ${CMAKE_BINARY_DIR}/made/web)
add_custom_command(OUTPUT ${made_web}/page_bundle_table.c
    COMMAND ${ESBUILD} ${CMAKE_SOURCE_DIR}/web/src/main.ts --bundle --minify --format=iife
        --target=es2020 --charset=utf8 --loader:.tsv=text --log-level=warning --outfile=${made_web}/page.js
    COMMAND ${CMAKE_COMMAND} -DSCRIPT=${made_web}/page.js
        "-DSTYLES=${CMAKE_SOURCE_DIR}/web/src/static.css,${CMAKE_SOURCE_DIR}/web/src/app.css"
        -DOUT=${made_web}/page_bundle_table.c -P ${CMAKE_SOURCE_DIR}/cmake/web-bundle.cmake
    DEPENDS ${web_files} ${CMAKE_SOURCE_DIR}/cmake/web-bundle.cmake VERBATIM)
target_sources(libstrata PRIVATE ${made_web}/page_bundle_table.c)
