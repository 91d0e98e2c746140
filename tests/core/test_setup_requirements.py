# SPDX-License-Identifier: Apache-2.0
"""What a setup.py requires, read and never run: all of it, or a refusal."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from headwater.core.errors import EnvironmentUnavailable
from headwater.core.setup_requirements import SetupUnreadable, read_setup, stated_version

# The shape of upstream's, in our words.
SETUP = """
import re, shutil, sys
from setuptools import setup

SUPPORTED = (10, 14)
MINOR = sys.version_info.minor
raise_if_run = open("/nonexistent")
stale = Path("x")
if stale.exists():
    shutil.rmtree(stale)
_deps = [
    {deps}
]
deps = {{b: a for a, b in (re.findall(r"^(([^!=<>~ ]+)(?:[!=<>~ ].*)?$)", x)[0] for x in _deps)}}
def deps_list(*pkgs):
    return [deps[pkg] for pkg in pkgs]
extras = {{}}
extras["torch"] = deps_list("torch")
if MINOR < 13:
    extras["torch"] += deps_list("numpy")
install_requires = {install}
class Command(setup):
    def run(self):
        if SUPPORTED[0] != MINOR:
            print(deps.items())
if __name__ == "__main__":
    low, high = SUPPORTED
    wanted = f">=3.{{low}}.0"
    classifiers = []
    for minor in range(low, high + 1):
        classifiers.append(f"3.{{minor}}")
    setup(name="x", python_requires=wanted, install_requires=list(install_requires), classifiers=classifiers)
"""
DEPS = '"filelock",\n    "numpy>=1.17",  # a comment\n    "torch>=2.4", "tokenizers>=0.22.0,<=0.23.0"'
DEPS += ", \"x[y]!=1; os_name == 'nt'\""


def setup_py(install: str = 'deps_list("numpy", "filelock")', deps: str = DEPS) -> str:
    return SETUP.format(deps=deps, install=install)


def lines(text: str) -> list[str]:
    return [str(requirement) for requirement in read_setup(text).requirements]


@pytest.mark.parametrize(
    ("install", "wanted"),
    [
        ('[deps["filelock"], deps["numpy"]]', ["filelock", "numpy>=1.17"]),
        ('deps_list("tokenizers", "numpy")', ["tokenizers<=0.23.0,>=0.22.0", "numpy>=1.17"]),
        ('["a>1", deps["filelock"]] + ["b"]', ["a>1", "filelock", "b"]),
        ("[_deps[1]]", ["numpy>=1.17"]),
        ('[deps["x[y]"]]', ['x[y]!=1; os_name == "nt"']),
        ("[]", []),
    ],
)
def test_upstreams_shape(install: str, wanted: list[str]) -> None:
    text = setup_py(install)
    assert lines(text) == wanted
    assert read_setup(text).requires_python == ">=3.10.0"


def test_literals_in_the_call() -> None:
    read = read_setup('import setuptools\nsetuptools.setup(install_requires=("a", "b<2"))\n')
    assert [str(r) for r in read.requirements] == ["a", "b<2"]
    assert read.requires_python == ""


NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9]{0,8}([-_.][A-Za-z0-9]{1,4})?", fullmatch=True)
SPECIFIERS = st.sampled_from(["", ">=1.0", "==2.1", ">=0.22.0,<=0.23.0", "!=1,<3", "~=1.2"])


@given(st.dictionaries(NAMES, SPECIFIERS, min_size=1), st.data())
def test_any_list_is_read_back(table: dict[str, str], data: st.DataObject) -> None:
    chosen = data.draw(st.lists(st.sampled_from(sorted(table)), unique=True))
    deps = ", ".join(f'"{name}{specifier}"' for name, specifier in table.items())
    read = read_setup(setup_py("[" + ", ".join(f'deps["{name}"]' for name in chosen) + "]", deps))
    assert [r.name for r in read.requirements] == chosen
    assert [r.specifier for r in read.requirements] == [
        r.specifier for r in read_setup(f"setup(install_requires={[n + table[n] for n in chosen]!r})").requirements
    ]


@pytest.mark.parametrize(
    "install",
    [
        "[deps['missing']]", "compute()", "[os.environ['X']]", "[f'a{x}']", "[deps]", "'filelock'", "[1]", "None",
        "[x for x in _deps]", "deps_list(*names)", "['a', *more]", "_deps[99]", "['not a >> requirement']",
        "['a'] * 2", "['a'] if MINOR else []", "[]\ninstall_requires.append('a')", "[]\ninstall_requires += ['a']",
        "[]\nif MINOR:\n    install_requires = ['a']", "[]\nfor x in _deps:\n    install_requires.insert(0, x)",
        "[]\nother = install_requires\nother.append('a')", "[]\ndel install_requires", "[]\nimport install_requires.x",
        "[]\nimport x as install_requires", "[]\nfrom x import *\nfrom x import install_requires",
        "[]\ndef install_requires(): pass", "[]\ndef f():\n    install_requires.append('a')\nf()",
        "[]\nexec('install_requires = 1', {'a': install_requires})",
    ],
)  # fmt: skip
def test_what_depends_on_more_than_the_text_is_refused(install: str) -> None:
    with pytest.raises(SetupUnreadable, match=r"^its setup\.py"):
        read_setup(setup_py(install))


@pytest.mark.parametrize(
    "text",
    [
        "", "x = (", "\0", "setup()", "setup(**arguments)", "setup(install_requires=[], python_requires=f())",
        "setup(install_requires=[], python_requires='three')", "(" * 500, "setup(install_requires=[]", "\ufeff\x00",
    ],
)  # fmt: skip
def test_what_says_nothing_is_refused(text: str) -> None:
    with pytest.raises(EnvironmentUnavailable, match=r"setup\.py"):
        read_setup(text)


@given(st.integers(0, len(setup_py())), st.text(max_size=5), st.integers(0, 30))
def test_damage_never_does_anything_but_refuse_or_read(at: int, new: str, cut: int) -> None:
    text = setup_py()
    try:
        read = read_setup(text[:at] + new + text[at + cut :])
    except SetupUnreadable:
        return
    assert isinstance(read.requires_python, str)


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ('"""doc"""\n__version__ = "5.5.0.dev0"\n', "5.5.0.dev0"),
        ("__version__='4.57.1'", "4.57.1"),
        ("x = 1\n", None),
        ('__version__ = "unknown!"', None),
        ('    __version__ = "1.0"', None),
    ],
)
def test_the_stated_version(text: str, version: str | None) -> None:
    assert stated_version(text) == (Version(version) if version else None)


def test_a_value_with_a_type_is_read_too() -> None:
    assert lines(
        'from setuptools import setup\nneeds: list[str] = ["numpy>=1.17"]\nsetup(install_requires=needs)\n'
    ) == ["numpy>=1.17"]


def test_a_text_made_of_what_is_no_text_is_unknown() -> None:
    with pytest.raises(SetupUnreadable):
        read_setup('from setuptools import setup\nn = ["a"]\nsetup(install_requires=[f"{n}"])\n')


@pytest.mark.parametrize(
    "statement", ["if MINOR:\n    wanted = '>=3.11'", "wanted += ',<4'", "for wanted in _deps:\n    pass", "del wanted"]
)
def test_a_text_that_may_have_changed_is_not_known_any_more(statement: str) -> None:
    text = "_deps = []\nwanted = '>=3.10'\n{}\nsetup(install_requires=[], python_requires=wanted)\n"
    assert read_setup(text.format("print(wanted)")).requires_python == ">=3.10"
    with pytest.raises(SetupUnreadable, match="python_requires that cannot be read"):
        read_setup(text.format(statement))


def test_a_table_of_what_is_no_list_holds_nothing() -> None:
    text = "_deps = {}\ndeps = {{x: x for x in _deps}}\nsetup(install_requires=[deps['a']])\n"
    assert lines(text.format("['a']")) == ["a"]
    with pytest.raises(SetupUnreadable, match="no install_requires that can be read"):
        read_setup(text.format("'a'"))
