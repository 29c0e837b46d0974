// Structures of many shapes, for tests of the reader of debug information.
#ifndef TYPES_H
#define TYPES_H
#include <stdint.h>

typedef struct opaque Opaque;  // whole in one unit only

typedef struct {
    char letter;
    uint64_t word;
} Pair;

typedef Pair PairAgain;
typedef const volatile PairAgain FixedPair;

typedef struct process {
    Pair common;
    union {
        struct {
            uint16_t serial;
            Pair links;
        } alive;
        uint64_t dead;
    } u;
    struct {
        uint8_t flag;
        union {
            uint32_t in_union;
            struct {
                uint16_t padding;
                uint16_t deepest;
            };
        };
    };
    FixedPair fixed;
    Pair many[3];
    char tail;
} Process;

union whole {
    Pair first;
    char bytes[40];
};

struct only_tag {
    int first;
    long second;
};

#endif
