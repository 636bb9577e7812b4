"""`hedgerow receipts`, as it is typed."""

from pathlib import Path

import click


@click.command()
@click.argument("url", required=False)
@click.option(
    "--state-dir",
    type=click.Path(path_type=Path),
    default=Path(".hedgerow"),
    show_default=True,
    help="The state directory of hedgerow local, or of hedgerow-gateway.",
)
@click.option("--endpoint", help="Only those of this one: NAMESPACE/NAME.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=100, show_default=True, help="The newest so many.")
@click.option("--leaked", is_flag=True, help="Of these, only attempts that may run on.")
@click.option("-o", "--output", type=click.Choice(["json"]), help="json: one object a line, for programs.")
def receipts(
    url: str | None, state_dir: Path, endpoint: str | None, limit: int, leaked: bool, output: str | None
) -> None:
    """List what is known about inference attempts that were given up, the newest first.

    URL is a gateway's own port, the one that has /metrics; without it the journal in the state directory is read,
    whether its gateway runs or not. USD with ~ is an estimate; without it the provider has said so.
    """
    from hedgerow_operator.cli.receipts import list_receipts

    list_receipts(url or state_dir, endpoint, limit, leaked, output)
