# SPDX-License-Identifier: Apache-2.0
"""`headwater pr`: what is sent upstream, and what proves it."""
