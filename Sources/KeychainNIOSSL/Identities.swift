// SPDX-License-Identifier: Apache-2.0

#if NIOSSL
    internal import NIOSSL
#endif
