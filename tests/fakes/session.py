"""A session without a store: every row is there, in its first version or the last one stored, and failures by order."""

from dbdyno.load_python.failure import Failure
from dbdyno.load_python.session import Endpoint, Session

PLACE = Endpoint(None, 0, None, None, None, None, None, 5.0)


class FakeSession(Session):
    """Answers at once. The next operations can be given: an exception to raise, `missing`, or `wrong`."""

    def __init__(self, steps, answers=(), refuse=()):
        super().__init__(PLACE, steps)
        if refuse:
            raise refuse.pop(0)
        self.answers = list(answers)
        self.asked = []
        self.closed = False
        self.versions = {}
        self.added = 0

    @staticmethod
    def version():
        return "fake 1.0"

    def _obey(self, *asked):
        self.asked.append(asked)
        order = self.answers.pop(0) if self.answers else None
        if isinstance(order, Exception):
            raise order
        return order

    def _row(self, step, key, order):
        if order == "missing":
            return None
        return self.steps[step].table.generate(key + (order == "wrong"), self.versions.get(key, 0))

    def get(self, step, key):
        return self._row(step, key, self._obey("get", step, key))

    def find(self, step, value):
        order = self._obey("find", step, value)
        key = value if isinstance(value, int) else int(value.removeprefix("player").split("@")[0])
        return self._row(step, key, order)

    def update(self, step, key, version):
        self.versions[key] = version
        return self._obey("update", step, key, version) != "missing"

    def add(self, step, key, delta):
        self.added += delta
        return self._obey("add", step, key, delta) != "missing"

    def count(self, table, rows):
        return rows

    def total(self, table, column, rows):
        return 100 + self.added

    def close(self):
        self.closed = True


LOST = Failure("connection", "lost")
