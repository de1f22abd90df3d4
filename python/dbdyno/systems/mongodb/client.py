"""Single commands to a server of the MongoDB protocol, by its Python driver: settings, counters and readiness."""

from typing import Any
from urllib.parse import quote_plus

import pymongo
from pymongo.errors import OperationFailure, PyMongoError

from dbdyno.systems.answers import Answer
from dbdyno.systems.mongodb.no_answer import NoAnswer
from dbdyno.systems.running.endpoint import Endpoint


def connect(endpoint: Endpoint, auth_database: str, timeout_s: float) -> pymongo.MongoClient[Answer]:
    """Return a client of this one server, not connected yet."""
    timeout_ms = round(timeout_s * 1000)
    login: Answer = {}
    if endpoint.user:
        login = {"username": endpoint.user, "password": endpoint.password, "authSource": auth_database}
    where = quote_plus(endpoint.socket) if endpoint.socket else f"{endpoint.host}:{endpoint.port}"
    return pymongo.MongoClient(
        f"mongodb://{where}",
        directConnection=True,
        maxPoolSize=1,
        serverSelectionTimeoutMS=timeout_ms,
        connectTimeoutMS=timeout_ms,
        socketTimeoutMS=timeout_ms,
        **login,
    )


def ask(endpoint: Endpoint, auth_database: str, command: str | Answer, timeout_s: float, value: Any = 1) -> Answer:
    """Return the answer to a command, which is its name with a value, or a document; raises NoAnswer."""
    with connect(endpoint, auth_database, timeout_s) as client:
        return answer(client, endpoint.database or auth_database, command, value)


def answer(client: pymongo.MongoClient[Answer], database: str, command: str | Answer, value: Any = 1) -> Answer:
    """Return the answer to such a command on a client that is kept; raises NoAnswer."""
    try:
        return dict(client[database].command(command, value))
    except OperationFailure as error:
        raise NoAnswer(str(error.details["errmsg"] if error.details else error), True) from None
    except PyMongoError as error:
        raise NoAnswer(str(error).split(", Timeout:", maxsplit=1)[0], False) from None
