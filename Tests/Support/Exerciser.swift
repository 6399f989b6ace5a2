// SPDX-License-Identifier: Apache-2.0
// The path of the exerciser, and its commands.

package import KeychainVault

/// The program for tests that need another process. `Tests/Exerciser/main.swift` lists its verbs.
///
/// A test target that starts it depends on `exerciser`, so that it is built.
package enum Exerciser {
    package static let name = "exerciser"
    package static let path = Programs.built(name)

    /// The words for a verb on a vault: the vault stands between the verb and its other arguments.
    package static func words(_ command: [String], on location: VaultLocation) -> [String] {
        Array(command.prefix(1)) + [location.folder, location.deviceKeyFile] + Array(command.dropFirst())
    }

    /// Runs a verb to its end, without input.
    ///
    /// - Parameter wrapper: The words of another program that starts it.
    /// - Returns: Its lines. If it did not end well, one more says so.
    package static func run(_ command: String..., under wrapper: [String] = []) throws -> [String] {
        let result = try RunningExerciser(command, under: wrapper).finish()
        return result.lines + (result.hasEndedWell ? [] : ["ended with \(result.status)"])
    }
}
