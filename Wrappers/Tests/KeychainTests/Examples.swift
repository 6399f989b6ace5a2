// SPDX-License-Identifier: Apache-2.0
// The examples of this module's own comments and article.

import Foundation
import Keychain
@_spi(Wrappers) import KeychainServices
import Testing

import class KeychainEngine.MemoryStore

@Suite("Examples", .serialized)
struct Examples {
    @Test func entryPoint_works() throws {
        do {
            let store = ValueKeychainStore(accountName: "api-key", accessGroup: "com.example.shared")
            try store.set("s3cret")
            let key = try store.get()
            #expect(key == "s3cret")
            try store.delete()
        }
        let store = ValueKeychainStore(accountName: "api-key").using(MemoryStore())
        try store.create("s3cret", extraAttributes: [kSecAttrLabel as String: NSString(string: "Example account")])
        let key = try store.get()
        try store.update("n3w")
        #expect(try key == "s3cret" && store.get() == "n3w")
        try store.delete()
        try store.set("s3cret")
        try store.set(nil)
        #expect(try store.get() == nil)
    }

    @Test func errors_showCodeAndMessage() {
        let kept = MemoryStore()
        kept.lockState = .locked
        let store = ValueKeychainStore(accountName: "api-key").using(kept)
        var shown: [String] = []
        func show(_ status: OSStatus, _ message: String) { shown = ["\(status)", message] }
        #expect(throws: Never.self) {
            do {
                try store.set("s3cret")
            } catch KeychainError.unexpectedStatus(let status, let message) {
                show(status, message ?? "")
            }
        }
        #expect(shown.first == "-25308" && shown.last?.isEmpty == false)
    }

    @Test func observers_areToldAndStop() throws {
        struct Session {
            let token: any ValueStore
        }
        var shown: [String] = []
        func show(_ value: String) { shown.append(value) }
        do {
            let store = ObservedValueStore(valueStore: ValueKeychainStore(accountName: "api-key"))
            let observation = store.observeChanges { value in show(value ?? "none") }
            try Session(token: store).token.set("1")
            observation.stopObserving()
            try store.set(nil)
        }
        do {
            let store = ObservedValueStore(valueStore: ValueKeychainStore(accountName: "api-key").using(MemoryStore()))
            let observation = store.observe { value in show(value ?? "none") }
            try store.set(nil)
            observation.stopObserving()
        }
        #expect(shown == ["1", "none"])
    }

    @Test func observation_endsAsItIsTold() {
        var count = 0
        let observation = Observation { count += 1 }
        observation.stopObserving()
        #expect(count == 1)
    }
}
