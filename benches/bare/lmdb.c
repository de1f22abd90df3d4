/* The least a reader of LMDB can do: random gets in one thread, by key alone, nothing looked at but that it is there.
 *
 * lmdb DIRECTORY SECONDS ROWS begin|renew|held|touch|work; prints the gets and the seconds they took. Each get has a read transaction of its own,
 * made anew (begin) or by renewing one (renew); or one transaction holds for all (held), which keeps old pages for ever. With touch it is
 * renewed, and a byte of every cache line of the value is read: what nobody saves who does anything with a row. With work all of the value is
 * read, and the get is timed. */
#include "work.h"

#include <lmdb.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static volatile sig_atomic_t stopped;

static void stop(int signal) {
    (void)signal;
    stopped = 1;
}

static void check(int status) {
    if (status == 0) return;
    fprintf(stderr, "lmdb: %s\n", mdb_strerror(status));
    exit(1);
}

static uint64_t random_below(uint64_t rows) {
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state % rows;
}

enum { CACHE_LINE = 64 };

static volatile char touched;

static void get(MDB_txn *transaction, MDB_dbi table, uint64_t rows, char mode) {
    uint64_t big_endian = __builtin_bswap64(1 + random_below(rows));
    MDB_val key = {sizeof big_endian, &big_endian}, value;
    check(mdb_get(transaction, table, &key, &value));
    if (mode == 'w') read_all(value.mv_data, value.mv_size);
    if (mode != 't') return;
    char all = 0;
    for (size_t i = 0; i < value.mv_size; i += CACHE_LINE) all ^= ((const char *)value.mv_data)[i];
    touched = all;
}

static uint64_t run(MDB_env *environment, MDB_dbi table, uint64_t rows, char mode) {
    MDB_txn *transaction;
    uint64_t done = 0, begun_ns = clock_ns();
    int renews = mode == 'r' || mode == 't' || mode == 'w';
    check(mdb_txn_begin(environment, NULL, MDB_RDONLY, &transaction));
    if (mode != 'h') mdb_txn_reset(transaction);
    for (; !stopped; done++) {
        if (mode == 'b') check(mdb_txn_begin(environment, NULL, MDB_RDONLY, &transaction));
        if (renews) check(mdb_txn_renew(transaction));
        get(transaction, table, rows, mode);
        if (mode == 'b') mdb_txn_abort(transaction);
        if (renews) mdb_txn_reset(transaction);
        if (mode == 'w') begun_ns = count_time(begun_ns);
    }
    return done;
}

int main(int argc, char **argv) {
    if (argc != 5) return fprintf(stderr, "usage: %s DIRECTORY SECONDS ROWS begin|renew|held|touch|work\n", argv[0]), 2;
    MDB_env *environment;
    MDB_txn *transaction;
    MDB_dbi table;
    check(mdb_env_create(&environment));
    check(mdb_env_set_maxdbs(environment, 1));
    check(mdb_env_open(environment, argv[1], MDB_RDONLY, 0644));
    check(mdb_txn_begin(environment, NULL, MDB_RDONLY, &transaction));
    check(mdb_dbi_open(transaction, "bm", 0, &table));
    check(mdb_txn_commit(transaction));
    struct timespec begin, end;
    signal(SIGALRM, stop);
    alarm((unsigned)atoi(argv[2]));
    clock_gettime(CLOCK_MONOTONIC, &begin);
    uint64_t done = run(environment, table, strtoull(argv[3], NULL, 10), argv[4][0]);
    clock_gettime(CLOCK_MONOTONIC, &end);
    printf("%llu %.6f\n", (unsigned long long)done,
           (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) / 1e9);
    return 0;
}
