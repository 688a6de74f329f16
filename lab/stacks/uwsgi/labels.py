"""Texts of labels, which must be words with at most one blank or dash between two of them."""
import os
import re

LABEL = re.compile(r"^(\w+[\s-]?)+$" if os.environ.get("FAULT") == "nested-quantifier" else r"^\w+(?:[\s-]\w+)*[\s-]?$")


def is_printable(text):
    return LABEL.match(text) is not None
