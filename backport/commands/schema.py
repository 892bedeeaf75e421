"""``backport schema``: what the report's JSON looks like."""

from __future__ import annotations

import click


@click.command("schema", short_help="Print the JSON schema of the report.")
def schema_command() -> None:
    r"""Print the JSON Schema of backport-report/1, which --json and report.json keep to.

    \b
    Example:
      backport schema > backport-report-1.schema.json
    """
    from backport.report.document import json_schema_text

    click.echo(json_schema_text(), nl=False)
