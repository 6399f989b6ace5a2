// SPDX-License-Identifier: Apache-2.0
// The process under test: it does the steps of one operation, and meets the fault on the way.

import FaultShim
import Foundation
import KeychainEngine
import KeychainVault

/// One fault at one call of one operation.
struct Subject {
    let operation: Operation
    let place: Place
    /// `nil`: the calls are counted, or recorded.
    let fault: Fault?
    /// The call, counted from 1.
    let call: Int
    /// The file that gets a record of all changes.
    let recordFile: String?

    /// What the callback of the shim needs; it takes no argument.
    nonisolated(unsafe) private static var change: () -> Void = {}

    /// Each line on standard output is written at once, since the process may die at any moment: `ack` after each step,
    /// `failed STEP REASON MESSAGE` instead, `hits COUNT` and `over` at the end.
    func run() throws {
        try Ring(place: place).enter()
        let vault = try place.shared()
        // A record begins with the files as they were copied.
        if recordFile != nil { try arm() }
        try operation.prepare(vault)
        if recordFile == nil { try arm() }
        let isWhole = runSteps(vault)
        if let fault, fault.leavesReadable { readAgain(isWhole) }
        say("hits \(fault_disarm())")
        say("over")
    }

    /// - Returns: Whether all steps were done.
    private func runSteps(_ vault: Vault) -> Bool {
        for (number, step) in operation.steps.enumerated() {
            do {
                try step.run(vault)
            } catch let error as KeychainError {
                say("failed \(number) \(error.reason.rawValue) \(error.message)")
                return false
            } catch {
                say("failed \(number) \(error)")
                return false
            }
            fault_record_acknowledgement()
            say("ack")
        }
        return true
    }

    private func arm() throws {
        let (place, change) = (place, fault?.change)
        Self.change = { change?.make(in: place) }
        // Kept for as long as the process: the shim compares with it at each call.
        let root = strdup(place.root + "/")
        var plan = fault_plan()
        plan.root = UnsafePointer(root)
        plan.kinds = fault?.kinds ?? 0
        plan.at = fault == nil ? 0 : call
        plan.action = fault?.action ?? FAULT_NONE.signed
        plan.error = fault?.error ?? 0
        plan.is_sticky = fault?.isSticky == true ? 1 : 0
        plan.clock_jump = fault?.clockJump ?? 0
        plan.callback = { Subject.change() }
        plan.trace = fault == nil && recordFile == nil ? STDOUT_FILENO : -1
        plan.record = try recordFile.map(Self.create) ?? -1
        fault_arm(&plan)
    }

    private static func create(_ path: String) throws -> Int32 {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw HarnessError("cannot make '\(path)'") }
        return descriptor
    }

    /// A full disk does not prevent reading, neither by the process that filled it nor by a later one.
    private func readAgain(_ isWhole: Bool) {
        do {
            let vault = try place.another()
            // Before there is a vault, nothing has to be there.
            guard try vault.status().exists else { return say("reads") }
            if operation.template.state.openers.contains(.recovery), !(try vault.opensByItself) {
                try vault.unlock(opener(isWhole).secret)
            }
            _ = try Items.all(vault)
            say("reads")
        } catch let error as KeychainError {
            say("reads-not \(error.reason.rawValue) \(error.message)")
        } catch {
            say("reads-not \(error)")
        }
    }

    private func opener(_ isWhole: Bool) -> Opener {
        isWhole && operation.states.last?.openers.contains(.newRecovery) == true ? .newRecovery : .recovery
    }

    private func say(_ line: String) {
        let bytes = Array((line.replacing("\n", with: " ") + "\n").utf8)
        _ = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
    }
}

/// What the harness itself could not do.
struct HarnessError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
