"""The commands, one module each; imported when they are asked for, so that the rest starts fast."""

#: Command → module.
GROUPS = {
    "run": "backport.commands.run",
    "show": "backport.commands.show",
    "verify": "backport.commands.verify",
    "continue": "backport.commands.resolve",
    "abort": "backport.commands.resolve",
    "status": "backport.commands.resolve",
    "lint": "backport.commands.lint",
    "import": "backport.commands.picking",
    "explain": "backport.commands.picking",
    "affected": "backport.commands.picking",
    "test": "backport.commands.test",
    "env": "backport.commands.env",
    "submit": "backport.commands.review",
    "export": "backport.commands.review",
    "unreleased": "backport.commands.release",
    "release": "backport.commands.release",
    "schema": "backport.commands.schema",
}
