# SPDX-License-Identifier: Apache-2.0
# tests/fuzz/fuzz_x.c becomes the libFuzzer program fuzz_x over all layers; fuzz_all builds every one. Clang only.
if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
  message(FATAL_ERROR "EBB_FUZZ needs clang: configure with --preset fuzz or -DCMAKE_C_COMPILER=clang")
endif()

# Everything is instrumented; a finding of the undefined behaviour sanitizer ends the run like any other.
target_compile_options(ebb_flags INTERFACE -fsanitize=fuzzer-no-link -fno-sanitize-recover=all)

add_custom_target(fuzz_all)
file(GLOB fuzz_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/fuzz_*.c)
foreach(source IN LISTS fuzz_sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(${name} EXCLUDE_FROM_ALL ${source})
  target_link_libraries(${name} PRIVATE ${inner} ebb_flags)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/fuzz)
  add_dependencies(fuzz_all ${name})
endforeach()
