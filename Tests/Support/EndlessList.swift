// SPDX-License-Identifier: Apache-2.0
// A damaged property list, at which Foundation on Linux ends the program.

package import Foundation

extension Data {
    /// A binary property list with an array that claims to have 2⁶² entries.
    ///
    /// - Parameter key: The key of the array in a dictionary; `nil`: the array is the top of the list.
    package static func listWithAnEndlessArray(for key: String? = nil) -> Data {
        let array: [UInt8] = [0xAF, 0x13, 0x40, 0, 0, 0, 0, 0, 0, 0]
        guard let key else { return list([array]) }
        return list([[0xD1, 0, 1, 0, 2], [0x5F, 0x10, UInt8(key.utf8.count)] + Array(key.utf8), array])
    }

    /// - Parameter objects: The top object first. References have two bytes.
    private static func list(_ objects: [[UInt8]]) -> Data {
        var (list, offsets) = (Data("bplist00".utf8), Data())
        for object in objects {
            offsets.append(UInt8(list.count))
            list += object
        }
        let table = UInt8(list.count)
        list += offsets + [0, 0, 0, 0, 0, 0, 1, 2]
        for number in [UInt8(objects.count), 0, table] { list += Data(count: 7) + [number] }
        return list
    }
}
