# SPDX-License-Identifier: Apache-2.0
"""`headwater case`: the cases that there are, their self-tests, and new ones out of reporters' scripts."""
