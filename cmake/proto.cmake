# src/render/proto/*.proto become C by protobuf-c's compiler, included as "render/proto/<name>.pb-c.h".
find_program(PROTOC_C protoc-c REQUIRED)
set(made_c ${CMAKE_BINARY_DIR}/proto)
file(MAKE_DIRECTORY ${made_c})
file(GLOB protos CONFIGURE_DEPENDS src/render/proto/*.proto)
foreach(file IN LISTS protos)
    cmake_path(RELATIVE_PATH file BASE_DIRECTORY ${CMAKE_SOURCE_DIR}/src OUTPUT_VARIABLE name)
    string(REGEX REPLACE "\\.proto$" ".pb-c" name ${name})
    add_custom_command(OUTPUT ${made_c}/${name}.c ${made_c}/${name}.h
        COMMAND ${PROTOC_C} --proto_path=${CMAKE_SOURCE_DIR}/src --c_out=${made_c} ${file}
        DEPENDS ${file} VERBATIM)
    set_source_files_properties(${made_c}/${name}.c PROPERTIES COMPILE_OPTIONS -w) # not ours to mend
    target_sources(libstrata PRIVATE ${made_c}/${name}.c)
endforeach()
target_include_directories(libstrata SYSTEM PUBLIC ${made_c})
