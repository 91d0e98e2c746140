# SPDX-License-Identifier: Apache-2.0
"""`headwater patch`: one module a subcommand."""
