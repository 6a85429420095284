"""Values that the formats of annotation tools share."""
