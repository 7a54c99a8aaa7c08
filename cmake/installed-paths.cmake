# Runs at installation: man pages and skills name what they cite where it is in the end. A folder that can be moved
# (STRATA_PORTABLE) has no such place: its man pages say from where the paths count.
file(GLOB pages $ENV{DESTDIR}${man}/strata*.1 $ENV{DESTDIR}${share}/skills/*/SKILL.md)
set(cited "(^|[^A-Za-z0-9_./-])((examples|docs|data/perfdb)/[A-Za-z0-9])")
foreach(page IN LISTS pages)
    file(READ ${page} text)
    if(NOT DEFINED ENV{STRATA_PORTABLE})
        string(REGEX REPLACE "${cited}" "\\1${share}/\\2" text "${text}")
        string(REPLACE "${share}/docs/perf_database" "docs/perf_database" text "${text}") # of the user
    elseif(text MATCHES "${cited}")
        string(REPLACE ".Sh EXIT STATUS" ".Sh FILES\nPaths of examples and documents count from share/strata of \
this installation.\n.Sh EXIT STATUS" text "${text}")
    endif()
    file(WRITE ${page} "${text}")
endforeach()
