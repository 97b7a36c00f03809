# SPDX-License-Identifier: Apache-2.0
# tests/unit/<layer>/test_x.c becomes the program unit_<layer>_x, linked with that layer and the ones inside it.
pkg_check_modules(CMOCKA REQUIRED IMPORTED_TARGET cmocka)

foreach(layer IN LISTS EBB_LAYERS)
  file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/unit/${layer}/test_*.c)
  add_custom_target(unit_${layer})
  foreach(source IN LISTS tests)
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "^test_" "unit_${layer}_" name ${name})
    add_executable(${name} ${source})
    target_link_libraries(${name} PRIVATE ebb_${layer} ebb_flags PkgConfig::CMOCKA)
    target_compile_options(${name} PRIVATE -Wno-conversion $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>
      $<$<C_COMPILER_ID:GNU>:-Wno-stringop-overread>)
    target_compile_definitions(${name} PRIVATE EBB_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
    add_dependencies(unit_${layer} ${name})
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS unit ENVIRONMENT "UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1")
  endforeach()
endforeach()

include(cmake/LuaTests.cmake)
include(cmake/StyleTests.cmake)
