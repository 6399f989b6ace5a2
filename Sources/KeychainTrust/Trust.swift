// SPDX-License-Identifier: Apache-2.0

#if Certificates
    internal import X509
#endif
