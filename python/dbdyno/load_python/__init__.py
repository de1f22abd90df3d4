"""The Python load client: executes one trial through a client library for Python (docs/contract.md).

It is a separate program, as the native one is, and knows nothing of the rest of dbdyno. Its tables, rows and choices
are those of the native client (crates/model, crates/workloads), so that both do the same work on the same data.
"""
