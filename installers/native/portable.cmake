# Read by CMake at every project() of the portable build: see installers/README.md.
include("${CMAKE_CURRENT_LIST_DIR}/light.cmake")

# What the modules for processors share their work with, GCC's libgomp, is on no list of what every
# Linux has, so it lies beside them. Each of them looks there first: their RPATH is $ORIGIN.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_SYSTEM_NAME STREQUAL "Linux")
    execute_process(
        COMMAND "${CMAKE_CXX_COMPILER}" -print-file-name=libgomp.so.1
        OUTPUT_VARIABLE gomp
        OUTPUT_STRIP_TRAILING_WHITESPACE
        COMMAND_ERROR_IS_FATAL ANY
    )
    file(REAL_PATH "${gomp}" gomp)
    install(FILES "${gomp}" DESTINATION llama_cpp/lib RENAME libgomp.so.1)
endif()

# The files have that RPATH from the start: one that names the building's folder, to be replaced at
# the installation, leaves room of its length in each, and so makes the same file another elsewhere.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
