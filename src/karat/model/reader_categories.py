"""Categories that readers add to labels and predictions for facts without a field."""

UNMAPPED = "nil:no-mapping"
"""The link is NIL because the reader found no mapping of the source id to the knowledge base."""

METONYMIC = "sense:metonymic"
"""The link is a metonymic sense of a mention whose literal sense is another label."""

OTHER_WORDS = "words:other"
"""The words of the prediction in its file differ from those of the gold standard at the same tokens."""

NOT_COREFERENCE = "coreference:no"
"""The source says that the label is no coreference, even if its text looks like one."""

MISSING_ROOT_PREFIXES = ("missing-parent:", "circular-parent:")
"""The prefixes of categories that mark a part whose root mention could not be read."""
