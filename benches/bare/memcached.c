/* memcached: get of a row of point-get. */
#include "protocol.h"

#include <stdio.h>

static size_t key_at;

size_t make_request(int fd, char *request) {
    (void)fd;
    key_at = (size_t)sprintf(request, "get dbdyno:bm:");
    return key_at + (size_t)sprintf(request + key_at, "%0*d\r\n", (int)digits, 0);
}

void put_key(char *request, uint64_t key) { put_decimal(request + key_at, key); }
