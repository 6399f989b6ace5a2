// SPDX-License-Identifier: Apache-2.0
// The system's zlib.

#include <zlib.h>
