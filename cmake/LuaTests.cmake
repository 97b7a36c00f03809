# SPDX-License-Identifier: Apache-2.0
# busted on the Lua module; once more with a collector that never rests. Skipped where busted or lua5.4 is missing.
find_program(BUSTED busted)
find_program(LUA54 lua5.4)
if(NOT TARGET ebb_lua OR NOT BUSTED OR NOT LUA54)
  return()
endif()

# A zone of its own shows whether the host's is used anywhere.
set(lua_test_env "TZ=America/St_Johns")
if(EBB_SANITIZE MATCHES "address")
  # The interpreter is not built with the sanitizer: its library must come first.
  execute_process(COMMAND ${CMAKE_C_COMPILER} -print-file-name=libasan.so
    OUTPUT_VARIABLE asan_library OUTPUT_STRIP_TRAILING_WHITESPACE)
  list(APPEND lua_test_env "LD_PRELOAD=${asan_library}" "ASAN_OPTIONS=detect_leaks=1")
endif()

foreach(gc IN ITEMS plain hostile)
  set(name lua_module)
  set(helper)
  if(gc STREQUAL hostile)
    set(name lua_module_gc)
    set(helper --helper=tests/lua/hostile_gc.lua)
  endif()
  add_test(NAME ${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR}
    COMMAND ${BUSTED} --lua=${LUA54} --lpath=tests/lua/?.lua --lpath=scripts/lua/?.lua --cpath=${PROJECT_BINARY_DIR}/lua/?.so
      --output=TAP ${helper} tests/lua)
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 LABELS lua ENVIRONMENT "${lua_test_env}")
endforeach()
