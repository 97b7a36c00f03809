/* SPDX-License-Identifier: Apache-2.0
 *
 * Numbered crash points, for crash tests only. In a build with EBB_FAILPOINTS the process kills itself with SIGKILL
 * when it passes the point whose number, or first the one whose name, stands in the environment variable
 * EBB_FAILPOINT; with EBB_FAILPOINT_TRACE=FILE
 * each point passed appends "<number> <name>\n" to that file. In every other build the macro is nothing.
 */
#ifndef EBB_BASE_FAILPOINT_H
#define EBB_BASE_FAILPOINT_H

#ifdef EBB_FAILPOINTS
/* Called through EBB_FAILPOINT only. name: a literal, unique in the program. */
void ebb_failpoint_pass(const char *name);
#define EBB_FAILPOINT(name) ebb_failpoint_pass(name)
#else
#define EBB_FAILPOINT(name) ((void)0)
#endif

#endif
