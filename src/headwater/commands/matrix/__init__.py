# SPDX-License-Identifier: Apache-2.0
"""`headwater matrix`: cases, the conformance suite and the library's own tests over revisions and devices."""
