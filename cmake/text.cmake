# data/text/<area>.tsv: the texts of reports, "key<TAB>English<TAB>Chinese", as C. Each area is a
# struct of messages, <area>_text in "text/<area>.h", and all of them are the list message_areas.
set(made_text ${CMAKE_BINARY_DIR}/made)
file(GLOB text_files CONFIGURE_DEPENDS data/text/*.tsv)
set(text_headers "")
foreach(file IN LISTS text_files)
    cmake_path(GET file STEM area)
    add_custom_command(OUTPUT ${made_text}/text/${area}.h ${made_text}/text/${area}.c
        COMMAND ${CMAKE_COMMAND} -DIN=${file} -DAREA=${area} -DOUT=${made_text}/text/${area}
            -P ${CMAKE_SOURCE_DIR}/cmake/text-area.cmake
        DEPENDS ${file} ${CMAKE_SOURCE_DIR}/cmake/text-area.cmake VERBATIM)
    list(APPEND text_sources ${made_text}/text/${area}.h ${made_text}/text/${area}.c)
    string(APPEND text_includes "#include \"text/${area}.h\"\n")
    string(APPEND text_rows
        "    {(const struct message *)&${area}_text, sizeof(${area}_text) / sizeof(struct message)},\n")
endforeach()
file(CONFIGURE OUTPUT ${made_text}/text/areas.c CONTENT
    "${text_includes}\nconst struct message_area message_areas[] = {\n${text_rows}    {0},\n};\n" @ONLY)
target_sources(libstrata PRIVATE ${text_sources} ${made_text}/text/areas.c)
target_include_directories(libstrata PUBLIC $<BUILD_INTERFACE:${made_text}>)
