/* MariaDB: the prepared statement of point-get, executed. The login is that of a user without a password, with the capabilities dbdyno asks
 * for, so that both get the same bytes. */
#include "protocol.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

/* PROTOCOL_41, LONG_FLAG, TRANSACTIONS, SECURE_CONNECTION, FOUND_ROWS, CONNECT_WITH_DB, PLUGIN_AUTH, DEPRECATE_EOF */
#define CAPABILITIES (0x200u | 0x4u | 0x2000u | 0x8000u | 0x2u | 0x8u | 0x80000u | 0x1000000u)
/* MARIADB_CLIENT_CACHE_METADATA: no column definitions with the rows of a statement that has been executed before. */
#define MARIADB_CAPABILITIES 0x10u

static const char statement[] = "SELECT id, k, c, pad FROM dbdyno_bm WHERE id = ?";
enum { ID_AT = 5, KEY_AT = 16, EXECUTE_SIZE = 24, PARAMETERS = 1, COLUMNS = 4 };

static void receive(int fd, unsigned char *into, size_t size) {
    if (recv(fd, into, size, MSG_WAITALL) != (ssize_t)size) fail("the server closed the connection");
}

/* Reads a packet and returns its first byte; an error packet ends the program in the server's words. */
static unsigned char read_packet(int fd, unsigned char *payload) {
    unsigned char head[4];
    receive(fd, head, sizeof head);
    size_t size = head[0] | (size_t)head[1] << 8;
    receive(fd, payload, size);
    if (payload[0] == 0xff) {
        fprintf(stderr, "refused: %.*s\n", (int)size - 3, payload + 3);
        fail("mysql");
    }
    return payload[0];
}

static void send_packet(int fd, unsigned char sequence, const void *payload, size_t size) {
    unsigned char packet[256] = {(unsigned char)size, 0, 0, sequence};
    memcpy(packet + 4, payload, size);
    send_all(fd, packet, size + 4);
}

static void log_in(int fd, unsigned char *payload) {
    uint32_t fixed[8] = {CAPABILITIES, 1 << 24, 45 /* utf8mb4_general_ci */, 0, 0, 0, 0, MARIADB_CAPABILITIES};
    /* User, a password of no bytes, database, plugin. */
    static const char text[] = "bench\0\0dbdyno\0mysql_native_password";
    unsigned char answer[32 + sizeof text];
    read_packet(fd, payload);
    memcpy(answer, fixed, 32);
    memcpy(answer + 32, text, sizeof text);
    send_packet(fd, 1, answer, sizeof answer);
    if (read_packet(fd, payload) != 0) fail("login");
}

size_t make_request(int fd, char *request) {
    static unsigned char payload[BUFFER_SIZE];
    char prepare[sizeof statement] = {0x16};
    log_in(fd, payload);
    memcpy(prepare + 1, statement, sizeof statement - 1);
    send_packet(fd, 0, prepare, sizeof prepare);
    if (read_packet(fd, payload) != 0) fail("prepare");
    /* COM_STMT_EXECUTE: id, flags, iterations = 1, no NULL, types follow (1): LONGLONG (8), and the value. */
    char first[22] = {0x17, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 8, 0};
    memcpy(first + 1, payload + 1, 4);
    char again[EXECUTE_SIZE] = {EXECUTE_SIZE - 4, 0, 0, 0, 0x17, 0, 0, 0, 0, 0, 1};
    memcpy(again + ID_AT, payload + 1, 4);
    memcpy(request, again, sizeof again);
    for (int i = 0; i < PARAMETERS + COLUMNS; i++) read_packet(fd, payload);
    /* Types are sent once. No definitions come back, only the number of columns, the end, and no row: there is no key 0. */
    send_packet(fd, 0, first, sizeof first);
    for (int i = 0; i < 2; i++) read_packet(fd, payload);
    return EXECUTE_SIZE;
}

void put_key(char *request, uint64_t key) { memcpy(request + KEY_AT, &key, sizeof key); }
