"""The analytic workloads there are, by name."""

from dbdyno.analytics.air_traffic import AirTraffic
from dbdyno.analytics.analysis import Analysis
from dbdyno.analytics.wide_rows import WideRows

ANALYSES: dict[str, type[Analysis]] = {"air-traffic": AirTraffic, "wide-rows": WideRows}
