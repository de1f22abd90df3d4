"""The builds that are searched, and how they are made."""

import subprocess
from pathlib import Path

import pytest

from dbdyno.cli.bisect_builds import builds_between, maker_of, titles_of
from dbdyno.errors import RunFailed, UserError

HERE = Path()


def test_versions_of_the_catalogue():
    assert builds_between("mysql@5.5", "mysql@8.0", None, None, HERE) == [
        "mysql@5.5",
        "mysql@5.6",
        "mysql@5.7",
        "mysql@8.0",
    ]
    assert builds_between("mysql@5.6", "mysql@5.7", None, None, HERE) == ["mysql@5.6", "mysql@5.7"]
    for good, bad, said in (
        ("mysql@8.0", "mysql@5.5", "does not come before"),
        ("mysql@5.5", "mysql@9.9", "--bad mysql@9.9: not among the builds"),
        ("mysql@5.5", "mariadb@11.4", "the builds in between are unknown"),
        ("redis", "redis?a=b", "the builds in between are unknown"),
        ("mysql@5.6?a=b", "mysql@5.7", "with the same settings"),
    ):
        with pytest.raises(UserError, match=said):
            builds_between(good, bad, None, None, HERE)


def test_versions_have_the_settings_of_both_ends_and_a_list_may_have_a_range(tmp_path):
    ends = ("mysql@5.6?innodb_buffer_pool_size=64M", "mysql@8.0?innodb_buffer_pool_size=64M")
    builds = builds_between(*ends, None, None, HERE)
    assert builds == [ends[0], "mysql@5.7?innodb_buffer_pool_size=64M", ends[1]]
    file = tmp_path / "builds"
    file.write_text("mysql?basedir=/opt/5.1\nmysql@5.6..8.0?innodb_buffer_pool_size=64M\n")
    assert builds_between("mysql?basedir=/opt/5.1", ends[1], file, None, HERE) == ["mysql?basedir=/opt/5.1", *builds]
    file.write_text("mysql@5.6..9.9\n")
    with pytest.raises(UserError, match=r"dbdyno can install no mysql@9\.9"):
        builds_between(*ends, file, None, HERE)


def test_a_list(tmp_path):
    file = tmp_path / "builds"
    file.write_text("# oldest first\none\n\n two \nthree\nfour\n")
    assert builds_between("two", "four", file, None, HERE) == ["two", "three", "four"]
    file.write_text("one\ntwo\none\n")
    with pytest.raises(UserError, match="lists one twice"):
        builds_between("one", "two", file, None, HERE)
    with pytest.raises(UserError, match="cannot be read"):
        builds_between("one", "two", tmp_path / "none", None, HERE)


@pytest.fixture
def repository(tmp_path):
    """A repository of four commits, and their names."""
    folder = tmp_path / "source"
    folder.mkdir()

    def git(*words):
        own = ("-c", "user.name=n", "-c", "user.email=e@x", "-c", "commit.gpgsign=false")
        done = subprocess.run(["git", *own, *words], cwd=folder, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    git("init", "--quiet")
    commits = []
    for number in range(4):
        git("commit", "--quiet", "--allow-empty", "-m", f"change {number}")
        commits.append(git("rev-parse", "HEAD"))
    return folder, commits


def test_commits_of_a_repository(repository):
    folder, commits = repository
    assert builds_between(commits[0], commits[3], None, "make {commit}", folder) == commits
    with pytest.raises(UserError, match="is --good the older one"):
        builds_between(commits[3], commits[0], None, "make {commit}", folder)
    with pytest.raises(UserError, match="git finds no commits"):
        builds_between("nowhere", commits[0], None, "make {commit}", folder)


def test_commits_are_called_by_their_short_names_and_subjects(repository):
    folder, commits = repository
    titles = titles_of(["v1", *commits[1:]], "make {commit}", folder)
    assert titles == ["v1", *(f"{commits[number][:7]} (change {number})" for number in (1, 2, 3))]
    assert titles_of(["mysql@5.5", "mysql@5.6"], None, folder) == ["mysql@5.5", "mysql@5.6"]


def test_a_command_makes_a_build_and_prints_its_system_last(tmp_path):
    make = maker_of("sh -c 'echo making; echo \"redis?io-threads={commit}\"; echo noise >&2'", tmp_path, tmp_path)
    assert make("4") == "redis?io-threads=4"
    assert (tmp_path / "build-4.log").read_text() == "noise\n"
    assert maker_of(None, tmp_path, tmp_path)("mysql@5.6") == "mysql@5.6"


@pytest.mark.parametrize(
    ("command", "said"),
    [
        ("sh -c 'exit 3' {commit}", "ended with status 3; see .*build-abc.log"),
        ("true {commit}", "printed no system"),
        ("echo '(' {commit}", "is not a system"),
        ("./no-such-program {commit}", "No such file"),
    ],
)
def test_a_build_that_cannot_be_made_says_why(tmp_path, command, said):
    with pytest.raises(RunFailed, match=said):
        maker_of(command, tmp_path, tmp_path)("abc")


def test_a_command_without_the_commit_is_refused(tmp_path):
    for command, said in (("./make.sh", "has no {commit}"), ("echo '{commit}", "No closing quotation")):
        with pytest.raises(UserError, match=said):
            maker_of(command, tmp_path, tmp_path)
