/* What the loop needs to know of a protocol. Each of mysql.c, redis.c and memcached.c is one, linked with loop.c into a program. */
#ifndef PROTOCOL_H
#define PROTOCOL_H

#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>

enum { MAX_REQUEST = 128, BUFFER_SIZE = 65536 };

/* Logs in on a connection just made, writes the request that will be sent again and again, and returns its size. */
size_t make_request(int fd, char *request);

/* Puts a key into a request. Keys have `digits` decimal digits, all of them, so that every request has the same size. */
void put_key(char *request, uint64_t key);

extern unsigned digits;

noreturn void fail(const char *what);
void send_all(int fd, const void *bytes, size_t size);
void put_decimal(char *at, uint64_t number);

#endif
