"""The load client that is sysbench: has it prepare, run and clean up, and tells what it says in records.

It is a separate program (docs/contract.md), so that a trial with it is conducted, observed and judged as any other.
Its figures are sysbench's own: no read was verified, and times are in its histogram's buckets.
"""
