# SPDX-License-Identifier: Apache-2.0
"""What an atlas says of the case `plain` of the hunting ground, which breaks between 5.3.0 and 5.4.0."""

PLAIN_ATLAS = """\
schema = 1
[[entry]]
case = "plain"
verdict = "good"
first = "5.0.0"
last = "5.3.0"
[[entry]]
case = "plain"
verdict = "bad"
first = "5.4.0"
last = "5.7.0"
"""
