# SPDX-License-Identifier: Apache-2.0
"""One module a command: it joins core and effects, and hands its result to the report layer."""
