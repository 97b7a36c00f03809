# SPDX-License-Identifier: Apache-2.0
# The layers, innermost first. A layer sees the headers of all layers, tests/style checks the direction of includes.
find_package(PkgConfig REQUIRED)
find_package(Threads REQUIRED)
pkg_check_modules(LUA REQUIRED IMPORTED_TARGET lua5.4)
pkg_check_modules(CJSON REQUIRED IMPORTED_TARGET libcjson)
pkg_check_modules(SQLITE REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(DEFLATE REQUIRED IMPORTED_TARGET libdeflate)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
pkg_check_modules(CRYPTO REQUIRED IMPORTED_TARGET libcrypto)
pkg_check_modules(EDIT REQUIRED IMPORTED_TARGET libedit)
pkg_check_modules(UV REQUIRED IMPORTED_TARGET libuv)
pkg_check_modules(MICROHTTPD REQUIRED IMPORTED_TARGET libmicrohttpd)
pkg_check_modules(CURL REQUIRED IMPORTED_TARGET libcurl)
pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET expat)
pkg_check_modules(SYSTEMD REQUIRED IMPORTED_TARGET libsystemd)
find_library(SNAPPY_LIBRARY snappy REQUIRED)

add_library(ebb_flags INTERFACE)
target_include_directories(ebb_flags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/core> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/core/include>)
target_compile_definitions(ebb_flags INTERFACE _GNU_SOURCE EBB_VERSION="${PROJECT_VERSION}"
  EBB_DATADIR="${CMAKE_INSTALL_FULL_DATADIR}/ebb")
if(EBB_FAILPOINTS)
  target_compile_definitions(ebb_flags INTERFACE EBB_FAILPOINTS=1)
endif()
target_compile_options(ebb_flags INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes
  -Wformat=2 -Wformat-security -Wvla -Werror -fno-strict-aliasing -fno-common -fstack-protector-strong)
if(EBB_SANITIZE)
  target_compile_options(ebb_flags INTERFACE -fsanitize=${EBB_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(ebb_flags INTERFACE -fsanitize=${EBB_SANITIZE})
endif()
target_link_libraries(ebb_flags INTERFACE PkgConfig::LUA PkgConfig::CJSON PkgConfig::SQLITE PkgConfig::DEFLATE
  PkgConfig::ZLIB PkgConfig::ZSTD PkgConfig::XXHASH PkgConfig::CRYPTO PkgConfig::UV PkgConfig::MICROHTTPD PkgConfig::CURL PkgConfig::EXPAT
  PkgConfig::SYSTEMD ${SNAPPY_LIBRARY} Threads::Threads m)

set(EBB_LAYERS base format io table engine service)
set(EBB_OBJECTS)
set(inner)
foreach(layer IN LISTS EBB_LAYERS)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/${layer}/*.c)
  if(sources)
    add_library(ebb_${layer}_objects OBJECT ${sources})
    target_link_libraries(ebb_${layer}_objects PRIVATE ebb_flags)
    add_library(ebb_${layer} STATIC $<TARGET_OBJECTS:ebb_${layer}_objects>)
    target_link_libraries(ebb_${layer} PUBLIC ${inner} ebb_flags)
    list(PREPEND inner ebb_${layer})
    list(APPEND EBB_OBJECTS $<TARGET_OBJECTS:ebb_${layer}_objects>)
  endif()
endforeach()

# libebb, shared and static: everything but the command line. Only what ebb.h marks EBB_API is visible.
add_library(ebb_shared SHARED ${EBB_OBJECTS})
set_target_properties(ebb_shared PROPERTIES OUTPUT_NAME ebb VERSION ${PROJECT_VERSION} SOVERSION 0)
target_link_libraries(ebb_shared PRIVATE ebb_flags)
add_library(ebb_static STATIC ${EBB_OBJECTS})
set_target_properties(ebb_static PROPERTIES OUTPUT_NAME ebb)
target_link_libraries(ebb_static PUBLIC ebb_flags)

file(GLOB front_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/front/*.c)
if(front_sources)
  add_executable(ebb ${front_sources})
  target_link_libraries(ebb PRIVATE ${inner} ebb_flags PkgConfig::EDIT)
endif()

# The Lua module `ebb` (require "ebb").
file(GLOB lua_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/core/front/lua/*.c)
if(lua_sources)
  add_library(ebb_lua MODULE ${lua_sources})
  set_target_properties(ebb_lua PROPERTIES PREFIX "" OUTPUT_NAME ebb LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lua)
  target_link_libraries(ebb_lua PRIVATE ${inner} ebb_flags)
endif()
