// SPDX-License-Identifier: Apache-2.0
// Core Foundation's access to arrays, dictionaries and data by pointer, as older code for keychains has it.

// swift-format-ignore-file: AlwaysUseLowerCamelCase

#if os(Linux)
    public import Foundation
    import SecretMemory

    /// What an array does with its objects. Only `nil` can be given for it.
    public struct CFArrayCallBacks: Sendable {
        private init() {}
    }

    /// A new array, which retains its objects.
    ///
    /// - Parameters:
    ///   - allocator: has no effect.
    ///   - values: pointers to objects, none of them `nil`.
    ///   - numValues: how many; with 0 the array is empty.
    ///   - callBacks: has no effect.
    /// - Returns: `nil` for a negative number, and for objects that are missing.
    public func CFArrayCreate(
        _ allocator: CFAllocator!, _ values: UnsafeMutablePointer<UnsafeRawPointer?>!, _ numValues: CFIndex,
        _ callBacks: UnsafePointer<CFArrayCallBacks>!
    ) -> CFArray! {
        guard numValues > 0 else { return numValues == 0 ? NSArray() : nil }
        let objects = UnsafeBufferPointer(start: values, count: values == nil ? 0 : numValues).compactMap { object($0) }
        return objects.count == numValues ? NSArray(array: objects) : nil
    }

    /// The number of objects in an array; 0 for `nil`. For the objects cast the array: `items as? [SecIdentity]`.
    public func CFArrayGetCount(_ theArray: CFArray!) -> CFIndex {
        theArray?.count ?? 0
    }

    /// A pointer to an object of an array, for `unsafeBitCast` to the class that it has. In new code cast the array.
    ///
    /// It is valid as long as the array.
    ///
    /// - Parameter idx: has to be an index of the array.
    public func CFArrayGetValueAtIndex(_ theArray: CFArray!, _ idx: CFIndex) -> UnsafeRawPointer! {
        theArray.flatMap { KeptObjects.shared.pointer(to: $0.object(at: idx), at: idx, of: $0) }
    }

    /// The number of entries in a dictionary; 0 for `nil`.
    public func CFDictionaryGetCount(_ theDict: CFDictionary!) -> CFIndex {
        theDict?.count ?? 0
    }

    /// A pointer to a value of a dictionary, for `unsafeBitCast` to the class that it has. In new code cast the
    /// dictionary.
    ///
    /// It is valid as long as the dictionary.
    ///
    /// - Parameter key: a pointer to the key: `Unmanaged.passUnretained(kSecImportItemIdentity).toOpaque()`.
    /// - Returns: `nil` if there is no such entry.
    public func CFDictionaryGetValue(_ theDict: CFDictionary!, _ key: UnsafeRawPointer!) -> UnsafeRawPointer! {
        guard let theDict, let key = object(key) as? NSObject, let value = theDict.object(forKey: key) else {
            return nil
        }
        return KeptObjects.shared.pointer(to: value, at: key, of: theDict)
    }

    /// New data with a copy of bytes.
    ///
    /// - Parameter allocator: has no effect.
    /// - Returns: `nil` for a negative length, and for bytes that are missing.
    public func CFDataCreate(_ allocator: CFAllocator!, _ bytes: UnsafePointer<UInt8>!, _ length: CFIndex) -> CFData! {
        guard length > 0 else { return length == 0 ? NSData() : nil }
        return bytes.map { NSData(bytes: $0, length: length) }
    }

    /// The number of bytes; 0 for `nil`.
    public func CFDataGetLength(_ theData: CFData!) -> CFIndex {
        theData?.length ?? 0
    }

    /// A pointer to the bytes, valid as long as the data.
    public func CFDataGetBytePtr(_ theData: CFData!) -> UnsafePointer<UInt8>! {
        theData?.bytes.assumingMemoryBound(to: UInt8.self)
    }

    private func object(_ pointer: UnsafeRawPointer?) -> AnyObject? {
        pointer.map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Objects that only a collection's user points to.
    ///
    /// Foundation on Linux hands out a text, a number, data, a dictionary or an array as a new object each time. So these
    /// live here until the first call after the end of their collection.
    private final class KeptObjects: Sendable {
        static let shared = KeptObjects()

        private struct Kept {
            weak var collection: NSObject?
            var objects: [AnyHashable: [NSObject]] = [:]
        }

        private let kept = Guarded<[ObjectIdentifier: Kept]>([:])

        /// - Parameter place: The index or the key of the value.
        func pointer(to value: Any, at place: AnyHashable, of collection: NSObject) -> UnsafeRawPointer {
            let object = value as AnyObject
            guard !(type(of: value) is AnyClass), let made = object as? NSObject else { return Self.pointer(object) }
            return kept.withLock { kept in
                kept = kept.filter { $0.value.collection != nil }
                var ofCollection = kept[ObjectIdentifier(collection)] ?? Kept(collection: collection)
                let known = ofCollection.objects[place]?.first { type(of: $0) == type(of: made) && $0.isEqual(made) }
                if known == nil { ofCollection.objects[place, default: []].append(made) }
                kept[ObjectIdentifier(collection)] = ofCollection
                return Self.pointer(known ?? made)
            }
        }

        private static func pointer(_ object: AnyObject) -> UnsafeRawPointer {
            UnsafeRawPointer(Unmanaged.passUnretained(object).toOpaque())
        }
    }
#endif
