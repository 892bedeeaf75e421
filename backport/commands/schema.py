"""``backport schema``: what the report's JSON looks like."""

from __future__ import annotations

import json

import click

_EXAMPLES = """\b
Example:
  backport schema > backport-report-1.schema.json
"""


@click.command("schema", epilog=_EXAMPLES, short_help="Print the JSON schema of the report.")
def schema_command() -> None:
    """Print the JSON Schema of backport-report/1, which --json and report.json keep to."""
    from backport.report.document import json_schema

    click.echo(json.dumps(json_schema(), indent=2))
