# Writes OUT: one array per file of FILES (paths below ROOT/data,
# or examples/… below ROOT) and the table that names them.
set(arrays "#include \"base/files/embedded.h\"\n\n")
set(rows "")
set(i 0)
foreach(file IN LISTS FILES)
    set(path ${ROOT}/data/${file})
    if(file MATCHES "^examples/")
        set(path ${ROOT}/${file})
    endif()
    file(READ ${path} hex HEX)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
    string(APPEND arrays "static const unsigned char file_${i}[] = {\n${bytes}0};\n\n")
    string(APPEND rows
        "    {\"${file}\", {(const char *)file_${i}, sizeof file_${i} - 1}},\n")
    math(EXPR i "${i} + 1")
endforeach()
file(WRITE ${OUT}
    "${arrays}const struct embedded embedded_files[] = {\n${rows}    {0},\n};\n")
