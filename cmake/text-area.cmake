# Writes OUT.h and OUT.c: the messages of IN (data/text/AREA.tsv) as struct AREA_text.
file(READ ${IN} all)
string(REGEX REPLACE "(^|\n)#[^\n]*" "\\1" all "${all}")
string(REGEX REPLACE "\n\n+" "\n" all "\n${all}")
string(REGEX REPLACE "^\n" "" all "${all}")
set(row "${AREA}\\.([a-z0-9_]+)\t([^\t\n]+)\t([^\t\n]+)\n")
string(REGEX REPLACE "${row}" "" wrong "${all}")
if(NOT wrong STREQUAL "")
    message(FATAL_ERROR "${IN}: not '${AREA}.key<TAB>English<TAB>Chinese': ${wrong}")
endif()
string(REGEX REPLACE "${row}" "    struct message \\1; /* \\2 */\n" members "${all}")
string(REPLACE "\"" "\\\"" all "${all}")
string(REGEX REPLACE "${row}"
    "    .\\1 = {{S_INIT(\"\\2\"), S_INIT(\"\\3\")}, \"${AREA}.\\1\"},\n" values "${all}")
string(TOUPPER ${AREA} guard)
file(WRITE ${OUT}.h "/* Made from data/text/${AREA}.tsv. */
#ifndef STRATA_TEXT_${guard}_H
#define STRATA_TEXT_${guard}_H

#include \"report/message.h\"

struct ${AREA}_text {
${members}};
extern const struct ${AREA}_text ${AREA}_text;

#endif
")
file(WRITE ${OUT}.c "#include \"text/${AREA}.h\"

const struct ${AREA}_text ${AREA}_text = {
${values}};
")
