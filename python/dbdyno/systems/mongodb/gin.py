"""Indexes of a PostgreSQL behind FerretDB that FerretDB's queries can use.

FerretDB 1.24 finds documents by `_jsonb->'field' @> value`, and its own indexes are B-trees, which do not serve `@>`
(https://www.postgresql.org/docs/current/datatype-json.html#JSON-INDEXING). A GIN index does.
"""

from dbdyno.systems.postgresql.probe import connect
from dbdyno.systems.running.endpoint import Endpoint

_FUNCTION = r"""
CREATE FUNCTION dbdyno_add_gin() RETURNS event_trigger LANGUAGE plpgsql AS $$
DECLARE
  made record;
BEGIN
  FOR made IN
    SELECT collection.oid::regclass AS collection, pg_get_indexdef(command.objid, field, true) AS field
    FROM pg_event_trigger_ddl_commands() AS command
    JOIN pg_index ON indexrelid = command.objid
    JOIN pg_class AS index ON index.oid = indexrelid
    JOIN pg_am ON pg_am.oid = index.relam AND amname = 'btree'
    JOIN pg_class AS collection ON collection.oid = indrelid AND collection.relname NOT LIKE '\_ferretdb%'
    CROSS JOIN generate_series(1, indnatts) AS field
  LOOP
    EXECUTE format(
      'CREATE INDEX ON %s USING gin ((%s) jsonb_path_ops) WITH (fastupdate = off)', made.collection, made.field
    );
  END LOOP;
END $$
"""
_TRIGGER = """
CREATE EVENT TRIGGER dbdyno_add_gin ON ddl_command_end WHEN TAG IN ('CREATE INDEX') EXECUTE FUNCTION dbdyno_add_gin()
"""


def add_gin_from_now_on(endpoint: Endpoint) -> None:
    """Have the server add a GIN index of the same field to each index that FerretDB makes there.

    endpoint: the database that FerretDB keeps its collections in, and a superuser of it.

    Raises:
        psycopg.Error: the server refuses, or does not answer.
    """
    with connect(endpoint) as connection:
        connection.execute(_FUNCTION)
        connection.execute(_TRIGGER)
