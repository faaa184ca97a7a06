//! Verbs of the `quad` command.
