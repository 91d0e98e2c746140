# SPDX-License-Identifier: Apache-2.0
"""The site: `nox -s docs` makes it of these pages. A link that leads nowhere, or a page that none leads to, fails."""

from headwater import __version__

project = "Headwater"
author = "The Headwater contributors"
copyright = author
release = __version__

extensions = ["myst_parser"]
# Every heading can be linked to by its words, as on a forge, where these pages are read too.
myst_heading_anchors = 3
highlight_language = "none"

html_theme = "furo"
html_title = f"Headwater {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
# The same pages give the same bytes.
html_last_updated_fmt = None
