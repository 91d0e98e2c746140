# SPDX-License-Identifier: Apache-2.0
"""Probes on other machines: what travels, who answers, and who asks."""
