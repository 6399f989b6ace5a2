// SPDX-License-Identifier: Apache-2.0
// The rules of a scripted store: which calls get a fault, and the log of calls.

import KeychainEngine

extension ScriptedStore {
    /// The kinds of calls on a store.
    public enum CallKind: String, Hashable, Sendable, CaseIterable {
        case select, insert, update, delete
        /// A transaction as a whole; the calls that its body makes are calls of their own.
        case transaction
    }

    /// Which of the matching calls get the fault, counted from when it was scripted.
    public enum Occurrence: Hashable, Sendable {
        case next
        /// The n-th call; 1 is the next one.
        case nth(Int)
        case every
    }

    /// A call that was made. It never contains the value of an item.
    public struct Call: Hashable, Sendable {
        public let kind: CallKind
        public let isInTransaction: Bool
        /// The service, or the server, if the call names one as text.
        public let service: String?
        /// The account, if the call names one as text.
        public let account: String?
        /// The fault that the call got; `nil`: none.
        public internal(set) var fault: Fault?
    }

    /// A fault and the calls that it applies to.
    struct Rule {
        let fault: Fault
        let occurrence: Occurrence
        let kinds: Set<CallKind>
        let service: String?
        let account: String?
        var calls = 0

        /// Counts the call if it matches. Returns whether it gets the fault.
        mutating func isMet(by call: Call) -> Bool {
            guard kinds.contains(call.kind), service == nil || service == call.service,
                account == nil || account == call.account
            else { return false }
            calls += 1
            switch occurrence {
            case .every: return true
            case .next: return calls == 1
            case .nth(let number): return calls == number
            }
        }
    }
}

extension ScriptedStore.Call {
    init(_ kind: ScriptedStore.CallKind, _ attributes: Attributes = Attributes(), isInTransaction: Bool) {
        self.kind = kind
        self.isInTransaction = isInTransaction
        service = attributes.text(.service) ?? attributes.text(.server)
        account = attributes.text(.account)
        fault = nil
    }
}

extension Attributes {
    fileprivate func text(_ attribute: Attribute) -> String? {
        if case .string(let text) = self[attribute] { text } else { nil }
    }
}
