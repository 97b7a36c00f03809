# SPDX-License-Identifier: Apache-2.0
# cmake --install: the program, libebb, its header and pkg-config file, the Lua module, scripts, policies, man page and completions.
# The pkg-config file finds its prefix from where it lies: `cmake --install --prefix` may choose another.
file(RELATIVE_PATH pc_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" pc_to_prefix "${pc_to_prefix}")
configure_file(${PROJECT_SOURCE_DIR}/cmake/ebb.pc.in ${PROJECT_BINARY_DIR}/ebb.pc @ONLY)

set(installed_targets ebb_shared ebb_static)
if(TARGET ebb)
  list(APPEND installed_targets ebb)
endif()
install(TARGETS ${installed_targets})
if(TARGET ebb_lua)
  install(TARGETS ebb_lua LIBRARY DESTINATION lib/lua/5.4)
endif()

# ebb.testing where `require` finds it; `ebb test` takes it from scripts/.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scripts/lua/ DESTINATION share/lua/5.4 FILES_MATCHING PATTERN "*.lua")

install(DIRECTORY ${PROJECT_SOURCE_DIR}/core/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
install(FILES ${PROJECT_BINARY_DIR}/ebb.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/scripts ${PROJECT_SOURCE_DIR}/policies DESTINATION ${CMAKE_INSTALL_DATADIR}/ebb
  FILES_MATCHING PATTERN "*.lua" PATTERN "*_spec.lua" EXCLUDE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/policies/templates DESTINATION ${CMAKE_INSTALL_DATADIR}/ebb/policies FILES_MATCHING PATTERN "*.json")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/lua-stubs DESTINATION ${CMAKE_INSTALL_DATADIR}/ebb FILES_MATCHING PATTERN "*.lua")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/demo DESTINATION ${CMAKE_INSTALL_DATADIR}/ebb PATTERN "README.md" EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# The unit names the program where it was put.
if(TARGET ebb)
  install(CODE "
    set(EBB_BINDIR \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}\")
    set(EBB_DOCDIR \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}\")
    configure_file(\"${PROJECT_SOURCE_DIR}/packaging/ebb.service.in\" \"${PROJECT_BINARY_DIR}/ebb.service\" @ONLY)")
  install(FILES ${PROJECT_BINARY_DIR}/ebb.service ${PROJECT_SOURCE_DIR}/packaging/ebb.socket DESTINATION lib/systemd/system)
  install(FILES ${PROJECT_SOURCE_DIR}/packaging/ebb.sysusers DESTINATION lib/sysusers.d RENAME ebb.conf)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/operations.md ${PROJECT_SOURCE_DIR}/docs/grafana/ebb-dashboard.json DESTINATION ${CMAKE_INSTALL_DOCDIR})
endif()

# The program writes its own manual and completions, so that they say what --help says.
if(TARGET ebb)
  set(pages ${PROJECT_BINARY_DIR}/pages)
  install(CODE "
    file(MAKE_DIRECTORY \"${pages}\")
    foreach(page IN ITEMS __man:ebb.1 __complete-bash:ebb __complete-zsh:_ebb)
      string(REPLACE \":\" \";\" page \${page})
      list(GET page 0 command)
      list(GET page 1 file)
      execute_process(COMMAND \"$<TARGET_FILE:ebb>\" \${command} OUTPUT_FILE \"${pages}/\${file}\" COMMAND_ERROR_IS_FATAL ANY)
    endforeach()")
  install(FILES ${pages}/ebb.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${pages}/ebb DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${pages}/_ebb DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()
