"""The traces of one system in a figure."""


def by_series(figure, series, **wanted):
    return [
        trace
        for trace in figure["data"]
        if trace["meta"]["s"] == series and all(trace.get(key) == value for key, value in wanted.items())
    ]
