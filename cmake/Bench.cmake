# SPDX-License-Identifier: Apache-2.0
# `cmake --build … --target bench_floor`: the yardstick of tests/bench/run.py. Nothing here is part of the tests.
add_executable(bench_floor EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/bench/floor.c)
target_link_libraries(bench_floor PRIVATE ebb_flags)

# `cmake --build … --target bench_policy`: evaluations of policies.
add_executable(bench_policy EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/bench/policy.c)
target_link_libraries(bench_policy PRIVATE ebb_engine ebb_flags)

# `cmake --build … --target bench_next`: the next fire of many triggers.
add_executable(bench_next EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/bench/next.c)
target_link_libraries(bench_next PRIVATE ebb_base ebb_flags)

# `cmake --build … --target bench_look`: a tick over many tables.
add_executable(bench_look EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/bench/look.c)
target_link_libraries(bench_look PRIVATE ebb_service ebb_flags)

# `cmake --build … --target bench_http`: requests a second of the HTTP server.
add_executable(bench_http EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/tests/bench/http.c)
target_link_libraries(bench_http PRIVATE ebb_io ebb_flags)
