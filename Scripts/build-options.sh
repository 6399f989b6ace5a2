# SPDX-License-Identifier: Apache-2.0
# The options of all debug builds in .build/development, for scripts to source. A build with others would compile everything again.

# C code as in release builds: whether its optimizer leaves secrets in memory is tested (NeedleTests). BoringSSL without optimization
# would take half of the time of all tests, for scrypt alone.
# SwiftPM looks for tests in an index of this package's files. To index what they import as well takes a quarter of a build.
options=(-Xcc -O2 -Xswiftc -index-ignore-system-modules -Xswiftc -Xfrontend -Xswiftc -index-ignore-clang-modules)
# When the project checks itself, nobody looks for lines of a program in a debugger, and to describe them takes a sixth of
# the time. A crash still names functions.
if [[ -n ${KEYCHAIN_CHECK-} ]]; then options+=(-debug-info-format none); fi
# SwiftPM passes the traits to the compiler in the order of a set, which otherwise differs from run to run. Each build would compile every
# module of this package again.
export SWIFT_DETERMINISTIC_HASHING=1
