"""The list of shipped experiments matches the checked experiments."""

from dbdyno.experiment.read import read_experiment
from dbdyno.experiment.shipped_files import shipped_experiments, shipped_questions


def test_the_files_are_those_of_the_project():
    shipped = shipped_experiments()
    assert "quickstart" in shipped and all(path.is_file() for path in shipped.values())


def test_a_question_is_that_of_the_checked_experiment():
    questions = shipped_questions()
    assert list(questions) == list(shipped_experiments())
    assert all(question == read_experiment(name).experiment.question for name, question in questions.items())
