"""The command line. Nothing of the library imports from here."""
