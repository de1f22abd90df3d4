/* PostgreSQL: the prepared statement of point-get, bound, executed and synchronised, in the bytes dbdyno sends. The login is that of a user
 * who is trusted. */
#include "protocol.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

static const char startup[] = "\0\0\0\x26\0\x03\0\0user\0bench\0database\0postgres\0";
static const char statement[] = "SELECT id, k, c, pad FROM dbdyno_bm WHERE id = $1";
static const char request_bytes[] =
    "B\0\0\0\x1a\0s0\0\0\x01\0\x01\0\x01\0\0\0\x04\0\0\0\0\0\x01\0\x01" /* one parameter of 4 bytes, all in binary */
    "E\0\0\0\x09\0\0\0\0\0S\0\0\0\x04";
enum { KEY_AT = 19, REQUEST_SIZE = sizeof request_bytes - 1 };

static void receive(int fd, void *into, size_t size) {
    if (recv(fd, into, size, MSG_WAITALL) != (ssize_t)size) fail("the server closed the connection");
}

/* Reads messages until the server is ready; an error ends the program in the server's words. */
static void wait_until_ready(int fd) {
    static char payload[BUFFER_SIZE];
    unsigned char head[5];
    do {
        uint32_t size;
        receive(fd, head, sizeof head);
        memcpy(&size, head + 1, sizeof size);
        size = ntohl(size) - 4;
        receive(fd, payload, size);
        if (head[0] == 'E') {
            for (uint32_t i = 0; i < size; i++) fputc(payload[i] ? payload[i] : ' ', stderr);
            fail("postgres");
        }
    } while (head[0] != 'Z');
}

size_t make_request(int fd, char *request) {
    char prepare[128] = {'P', 0, 0, 0, (char)(4 + 3 + sizeof statement + 2), 's', '0'};
    size_t size = 5 + 3 + sizeof statement + 2;
    send_all(fd, startup, sizeof startup);
    wait_until_ready(fd);
    memcpy(prepare + 8, statement, sizeof statement);
    memcpy(prepare + size, "S\0\0\0\x04", 5);
    send_all(fd, prepare, size + 5);
    wait_until_ready(fd);
    memcpy(request, request_bytes, REQUEST_SIZE);
    return REQUEST_SIZE;
}

void put_key(char *request, uint64_t key) {
    uint32_t id = htonl((uint32_t)key);
    memcpy(request + KEY_AT, &id, sizeof id);
}
