# SPDX-License-Identifier: Apache-2.0
"""What Headwater does to the world: git, the package index, environments, processes, the store."""
