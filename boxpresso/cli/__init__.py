"""The command line: main.py builds the parser and runs a verb; each verb is a file of its own. Read main.py first.

A verb's module has NAME, SHORT (one line of `boxpresso --help`), TEXT and EPILOG (of its own help), `add_arguments(parser)` and
`run(args)`, which returns the exit status. What several verbs share is in arguments.py, model.py and output.py. Modules import
heavy libraries inside `run`, so that `--help` answers at once.
"""
