"""The load client that is sysbench: has it prepare, run and clean up, and tells what it says in records.

It is a program of its own (docs/contract.md), so that a trial with it is conducted, observed and judged as any other.
What sysbench measures is its own: nothing it read was verified, and times are in its histogram's buckets.
"""
