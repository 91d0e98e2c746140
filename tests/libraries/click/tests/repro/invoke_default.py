# SPDX-License-Identifier: Apache-2.0
# /// case
# id = "invoke-default"
# title = "Context.invoke hands a marker to options that have no default"
# references = ["pallets/click#3066"]
# severity = "wrong-result"
# time_limit = 20
# user_sees = "A command that another one invokes gets Sentinel.UNSET where it got None."
# meanwhile = "Name every option in ctx.invoke, or give each a default."
# [[signature]]
# type = "Bug"
# message = '^an option without a default is Sentinel\.UNSET'
# ///
"""A command that is invoked by another one gets None for an option that has no default and was not given."""

import casekit


def run(device: str) -> None:
    import click

    seen: list[dict[str, object]] = []

    @click.command()
    @click.option("--bare")
    @click.option("--own", default="own")
    @click.option("--mapped")
    @click.option("--called")
    def invoked(**options: object) -> None:
        seen.append(options)

    @click.command(context_settings={"default_map": {"invoked": {"mapped": "there", "called": lambda: "made"}}})
    @click.pass_context
    def main(ctx: click.Context) -> None:
        ctx.invoke(invoked)

    main(args=[], standalone_mode=False)
    casekit.require(len(seen) == 1, f"the command was invoked {len(seen)} times")
    bare = seen[0].pop("bare")
    casekit.require(
        seen[0] == {"own": "own", "mapped": "there", "called": "made"}, f"the other options came as {seen[0]}"
    )
    if bare is not None:
        casekit.bug(f"an option without a default is {bare!r}")


if __name__ == "__main__":
    casekit.main(run, __file__)
