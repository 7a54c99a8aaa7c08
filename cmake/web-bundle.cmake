# Writes OUT: the bundle SCRIPT and the files STYLES one after the other as C, each with its SHA-256.
function(array name file out)
    file(READ ${file} hex HEX)
    file(SHA256 ${file} sum)
    string(REGEX REPLACE "(..)" "0x\\1," bytes "${hex}")
    string(REGEX REPLACE "(..)" "0x\\1," sum "${sum}")
    string(REGEX REPLACE "(0x..,0x..,0x..,0x..,0x..,0x..,0x..,0x..,)" "\\1\n" bytes "${bytes}")
    set(${out} "static const unsigned char ${name}_bytes[] = {\n${bytes}0};\n
const struct page_bundle page_${name} = {
    {(const char *)${name}_bytes, sizeof ${name}_bytes - 1},
    {${sum}},
};\n\n" PARENT_SCOPE)
endfunction()

string(REPLACE "," ";" STYLES "${STYLES}")
set(style ${OUT}.css)
file(WRITE ${style} "")
foreach(file IN LISTS STYLES)
    file(READ ${file} text)
    file(APPEND ${style} "${text}")
endforeach()
array(script ${SCRIPT} script)
array(style ${style} style)
file(WRITE ${OUT} "#include \"page/page.h\"\n\n${script}${style}")
