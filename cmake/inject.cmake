# libstrata-inject.so: what the CUDA driver loads into a profiled program. Its parts are an archive
# too, for the unit tests; only the two entries of inject.c are seen from outside.
file(GLOB inject_c CONFIGURE_DEPENDS src/gpu/inject/*.c)
list(FILTER inject_c EXCLUDE REGEX "_test\\.c$|/inject\\.c$")
add_library(strata_inject STATIC ${inject_c} src/base/files/crc32c.c src/base/text/mangled.c)
target_link_libraries(strata_inject PRIVATE strata_flags PUBLIC Threads::Threads ${CMAKE_DL_LIBS})
add_library(inject MODULE src/gpu/inject/inject.c)
set_target_properties(inject PROPERTIES PREFIX lib OUTPUT_NAME strata-inject)
target_link_libraries(inject PRIVATE strata_flags strata_inject)
target_link_options(inject PRIVATE -Wl,--exclude-libs,ALL -Wl,-z,nodelete)
if(NOT CMAKE_C_FLAGS MATCHES "-fsanitize") # the sanitizers' runtime is in the program
    target_link_options(inject PRIVATE -Wl,-z,defs)
endif()

# Our declarations against the vendor's headers, where they are installed. These include <string>
# of C++, which has to be there but is not needed.
string(REPLACE aarch64 sbsa cuda_target ${CMAKE_SYSTEM_PROCESSOR}) # the toolkit's name for ARM servers
file(GLOB cupti_dirs /usr/local/cuda*/targets/${cuda_target}-linux/include
    /usr/local/cuda*/extras/CUPTI/include)
find_path(CUPTI_INCLUDE cupti_range_profiler.h PATHS $ENV{CUDA_HOME}/include
    $ENV{CUDA_HOME}/extras/CUPTI/include ${cupti_dirs})
find_path(CUDA_INCLUDE cuda.h PATHS ${CUPTI_INCLUDE} $ENV{CUDA_HOME}/include /usr/local/cuda/include)
if(CUPTI_INCLUDE AND CUDA_INCLUDE)
    file(WRITE ${CMAKE_BINARY_DIR}/no-cxx/string "")
    try_compile(CUPTI_AGREES ${CMAKE_BINARY_DIR}/check-cupti SOURCES ${CMAKE_SOURCE_DIR}/cmake/check-cupti.c
        CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${CMAKE_BINARY_DIR}/no-cxx\;${CUPTI_INCLUDE}\;${CUDA_INCLUDE}\;${CMAKE_SOURCE_DIR}/src"
        OUTPUT_VARIABLE cupti_output NO_CACHE)
    if(CUPTI_AGREES)
        message(STATUS "CUPTI declarations agree with ${CUPTI_INCLUDE}")
    else()
        message(SEND_ERROR "src/gpu/inject/cupti_abi.h differs from ${CUPTI_INCLUDE}:\n${cupti_output}")
    endif()
else()
    message(STATUS "CUPTI headers not found: its declarations are not compared")
endif()
