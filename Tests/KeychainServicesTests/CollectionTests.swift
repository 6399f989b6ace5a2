// SPDX-License-Identifier: Apache-2.0
// Core Foundation's access to arrays, dictionaries and data by pointer.

import Foundation
import KeychainServices
import Testing

@Suite("Collections")
struct CollectionTests {
    private func pointer(_ object: AnyObject) -> UnsafeRawPointer {
        UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
    }

    @Test func array_hasItsObjects() throws {
        let keys = [try TestKey.p256.privateKey(), try TestKey.p384.privateKey()]
        let array = keys as CFArray
        #expect(CFArrayGetCount(array) == 2 && CFArrayGetCount(nil) == 0)
        for index in 0..<2 {
            let found = try #require(CFArrayGetValueAtIndex(array, index))
            #expect(unsafeBitCast(found, to: SecKey.self) === keys[index])
        }
        #expect(CFArrayGetValueAtIndex(nil, 0) == nil)
    }

    /// As older code takes an identity out of the result of `SecPKCS12Import`.
    @Test func dictionaryInAnArray_hasItsValues() throws {
        let identity = try TestIdentity.first.object()
        let items = [[kSecImportItemIdentity as String: identity, "label": "n"]] as [[String: Any]] as CFArray
        let first = unsafeBitCast(try #require(CFArrayGetValueAtIndex(items, 0)), to: CFDictionary.self)
        #expect(CFDictionaryGetCount(first) == 2 && CFDictionaryGetCount(nil) == 0)
        let found = try #require(CFDictionaryGetValue(first, pointer(kSecImportItemIdentity)))
        #expect(unsafeBitCast(found, to: SecIdentity.self) === identity)
        let label = try #require(CFDictionaryGetValue(first, pointer(kSecImportItemLabel)))
        #expect(unsafeBitCast(label, to: CFString.self) == "n")
        #expect(CFDictionaryGetValue(first, pointer(kSecImportItemTrust)) == nil)
        #expect(CFDictionaryGetValue(nil, pointer(kSecImportItemTrust)) == nil)
        withExtendedLifetime(items) {}
    }

    @Test func pointer_toTheSameValue_isTheSame() {
        let array = NSMutableArray(array: ["text", Data([1])])
        #expect(CFArrayGetValueAtIndex(array, 0) == CFArrayGetValueAtIndex(array, 0))
        let old = CFArrayGetValueAtIndex(array, 1)
        array.replaceObject(at: 1, with: Data([2]))
        #expect(CFArrayGetValueAtIndex(array, 1) != old)
        #expect(old.map { unsafeBitCast($0, to: CFData.self) } == Data([1]) as CFData)
        withExtendedLifetime(array) {}
    }

    @Test func values_ofACollectionThatIsGone_areReleased() throws {
        weak var value: NSString?
        do {
            let array = ["text"] as CFArray
            value = unsafeBitCast(try #require(CFArrayGetValueAtIndex(array, 0)), to: CFString.self)
            #expect(value == "text")
            withExtendedLifetime(array) {}
        }
        let other = ["other"] as CFArray
        _ = CFArrayGetValueAtIndex(other, 0)
        #expect(value == nil)
    }

    @Test func array_madeOfPointers_retainsItsObjects() throws {
        let key = try TestKey.p256.privateKey()
        var pointers: [UnsafeRawPointer?] = [pointer(key), nil]
        #expect(CFArrayCreate(nil, &pointers, 1, nil) == NSArray(object: key))
        #expect(CFArrayCreate(nil, &pointers, 2, nil) == nil && CFArrayCreate(nil, nil, 1, nil) == nil)
        #expect(CFArrayCreate(nil, nil, 0, nil)?.count == 0 && CFArrayCreate(nil, nil, -1, nil) == nil)
    }

    @Test func data_madeOfBytes_hasThem() throws {
        let data = try #require(CFDataCreate(nil, [1, 2, 3], 3))
        #expect(CFDataGetLength(data) == 3 && CFDataGetLength(nil) == 0)
        let bytes = try #require(CFDataGetBytePtr(data))
        #expect(Array(UnsafeBufferPointer(start: bytes, count: 3)) == [1, 2, 3])
        #expect(CFDataCreate(nil, nil, 0)?.length == 0 && CFDataCreate(nil, nil, 1) == nil)
        #expect(CFDataCreate(nil, [1], -1) == nil && CFDataGetBytePtr(nil) == nil)
    }
}
