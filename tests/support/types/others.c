#include <stddef.h>
#include <stdio.h>

#include "types.h"

struct opaque {
    char name[12];
    double inside;
};

typedef struct {
    int allocated;
    void* slots;
} Table;

static Opaque the_only;
static Table table;

Opaque* the_opaque(void) { return table.slots == NULL ? &the_only : NULL; }

void show_others(void) {
    printf("Opaque inside %zu\n", offsetof(Opaque, inside));
    printf("Opaque - %zu\n", sizeof(Opaque));
    printf("Table slots %zu\n", offsetof(Table, slots));
}
