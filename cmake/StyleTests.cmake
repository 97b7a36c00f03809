# SPDX-License-Identifier: Apache-2.0
# The project's own rules as tests; they read the sources only.
find_program(PYTHON3 NAMES python3 HINTS /usr/bin)
find_program(LUACHECK luacheck)

if(PYTHON3)
  add_test(NAME style COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/tests/style/check.py)
  add_test(NAME style_self COMMAND ${PYTHON3} ${PROJECT_SOURCE_DIR}/tests/style/test_check.py)
  set_tests_properties(style style_self PROPERTIES TIMEOUT 120 LABELS style)
endif()
if(LUACHECK)
  add_test(NAME luacheck WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} COMMAND ${LUACHECK} --quiet scripts policies tests/lua)
  set_tests_properties(luacheck PROPERTIES TIMEOUT 120 LABELS style)
endif()

# `cmake --build … --target format` brings all C files into the form that the tests ask for.
find_program(CLANG_FORMAT clang-format)
if(CLANG_FORMAT)
  file(GLOB_RECURSE c_files ${PROJECT_SOURCE_DIR}/core/*.[ch] ${PROJECT_SOURCE_DIR}/tests/*.[ch])
  add_custom_target(format COMMAND ${CLANG_FORMAT} -i ${c_files} VERBATIM)
endif()
