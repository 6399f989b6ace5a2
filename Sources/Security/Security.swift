// SPDX-License-Identifier: Apache-2.0
// `import Security` compiles on Linux as it does where Apple ships the module.

#if os(Linux)
    @_exported public import KeychainServices

    #if Certificates
        @_exported public import KeychainTrust
    #endif
#endif
