# Writes ${OUTPUT} with the version and the commit that is built; touches it only when they change.
find_package(Git QUIET)
set(sha "")
set(dirty false)
if(GIT_FOUND)
  execute_process(
    COMMAND ${GIT_EXECUTABLE} rev-parse HEAD
    WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE sha
    OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  execute_process(
    COMMAND ${GIT_EXECUTABLE} status --porcelain --untracked-files=no
    WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE changes
    ERROR_QUIET)
  if(NOT changes STREQUAL "")
    set(dirty true)
  endif()
endif()
file(
  CONFIGURE
  OUTPUT
  ${OUTPUT}
  CONTENT
    "#include \"base/version.hpp\"

overlap::base::Version overlap::base::version() { return {\"${VERSION}\", \"${sha}\", ${dirty}}; }
")
