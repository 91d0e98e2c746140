# SPDX-License-Identifier: Apache-2.0
"""`headwater bisect`, room by room: what was asked, who answers, and each kind of hunt."""
