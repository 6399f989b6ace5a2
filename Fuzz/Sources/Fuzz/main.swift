// SPDX-License-Identifier: Apache-2.0
// Hands the target that FUZZ_TARGET names to libFuzzer, whose arguments are this program's; lists the targets without it.

import Foundation

typealias ArgumentList = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>

/// libFuzzer's own entry point; it returns only when it is done.
@_silgen_name("LLVMFuzzerRunDriver")
func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>, _ arguments: UnsafeMutablePointer<ArgumentList>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

let name = ProcessInfo.processInfo.environment["FUZZ_TARGET"] ?? ""
guard let target = FuzzTarget(rawValue: name) else {
    for target in FuzzTarget.allCases { print(target.rawValue) }
    exit(name.isEmpty ? 0 : 64)
}
target.prepare()

var count = CommandLine.argc
var arguments = CommandLine.unsafeArgv
exit(runFuzzer(&count, &arguments) { FuzzTarget.run($0, $1) })
