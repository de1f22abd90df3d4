/* Redis: GET of a row of point-get. */
#include "protocol.h"

#include <stdio.h>
#include <string.h>

static const char prefix[] = "dbdyno:bm:";
static size_t key_at;

size_t make_request(int fd, char *request) {
    (void)fd;
    size_t key_size = strlen(prefix) + digits;
    key_at = (size_t)sprintf(request, "*2\r\n$3\r\nGET\r\n$%zu\r\n%s", key_size, prefix);
    return key_at + (size_t)sprintf(request + key_at, "%0*d\r\n", (int)digits, 0);
}

void put_key(char *request, uint64_t key) { put_decimal(request + key_at, key); }
