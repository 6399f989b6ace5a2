// SPDX-License-Identifier: Apache-2.0
// What ends the process when a target breaks its word.

/// Ends the process where a promise does not hold, which libFuzzer reports with the input.
func require(_ condition: Bool, _ promise: @autoclosure () -> String) {
    guard condition else { fatalError("broken promise: " + promise()) }
}
