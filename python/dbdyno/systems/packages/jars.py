"""A program in Java: its jar and all those it needs, each with its pinned sum."""

import shutil
from collections.abc import Callable
from pathlib import Path

from dbdyno.errors import RunFailed, UserError
from dbdyno.systems.packages.download import maven, missing_client, run_client, sum_of
from dbdyno.systems.packages.package import Package

_PROJECT = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>dbdyno</groupId><artifactId>package</artifactId><version>1</version><packaging>pom</packaging>
  <dependencies><dependency>
    <groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>
  </dependency></dependencies>
</project>
"""


def download_jars(package: Package, folder: Path, progress: Callable[[int], None]) -> Path:
    """Return the folder of a package's jars, got by mvn unless they are there already, the sum of each checked.

    progress: called with the bytes there so far. An interrupted download is resumed.
    Raises UserError if mvn is missing, RunFailed if it fails or a jar is another than was pinned.
    """
    jars, wanted = folder / "jars", pinned_sums(package)
    if _sums(jars) != wanted:
        if reason := missing_client(package):
            raise UserError(reason)
        folder.mkdir(parents=True, exist_ok=True)
        project = folder / "pom.xml"
        project.write_text(_PROJECT.format(*package.coordinates.split(":")))
        copy = ["dependency:copy-dependencies", "-DincludeScope=runtime", f"-DoutputDirectory={jars}"]
        run_client(package, folder, [*maven(folder), "--file", str(project), *copy], progress)
    sums = _sums(jars)
    if different := sorted(name for name in sums.keys() | wanted.keys() if sums.get(name) != wanted.get(name)):
        shutil.rmtree(jars, ignore_errors=True)
        raise RunFailed(
            f"{package.name}: {len(different)} of its files differ from the tested ones, and were removed; "
            f"the first is {different[0]}"
        )
    progress(package.size_bytes)
    return jars


def pinned_sums(package: Package) -> dict[str, str]:
    """Return the SHA-256 sum of each of a package's files by its name; raises RunFailed if the list is another."""
    path = Path(__file__).with_name(package.file)
    if sum_of(path) != package.sha256:
        raise RunFailed(f"{package.name}: {package.file} is not the list of sums that was pinned")
    lines = (line.split() for line in path.read_text().splitlines())
    return {name: digest for digest, name in lines}


def _sums(folder: Path) -> dict[str, str]:
    return {path.name: sum_of(path) for path in folder.glob("*.jar")}
