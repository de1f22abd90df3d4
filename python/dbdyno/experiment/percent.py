"""A percentage as a person writes it."""


def parse_percent(text: str) -> float:
    """Read `2%` as 0.02; raises ValueError if it is none between 0 and 100 %.

    The sign is required: a bare 2 or 0.02 would be ambiguous.
    """
    try:
        share = float(text.strip().removesuffix("%")) / 100
    except ValueError:
        share = -1.0
    if not text.strip().endswith("%") or not 0 <= share < 1:
        raise ValueError(f"'{text}' is not a percentage: give one such as 2%")
    return share
