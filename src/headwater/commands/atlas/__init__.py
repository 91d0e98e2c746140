# SPDX-License-Identifier: Apache-2.0
"""`headwater atlas`: what is known of every case over every release."""
