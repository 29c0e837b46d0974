// Prints what offsetof and sizeof say of each structure: "STRUCTURE PATH BYTES", with a path of "-" for the size.
#include <stddef.h>
#include <stdio.h>

#include "types.h"

// As a library's structure that happens to have the name of one in another unit.
typedef struct {
    long something_else;
} Table;

Opaque* the_opaque(void);
Table unrelated;
Process process;
union whole whole;
struct only_tag tagged;
void show_others(void);

#define SHOW(name, type, path) printf(#name " " #path " %zu\n", offsetof(type, path))
#define SIZE(name, type) printf(#name " - %zu\n", sizeof(type))

int main(void) {
    SHOW(Pair, Pair, letter);
    SHOW(Pair, Pair, word);
    SHOW(FixedPair, Pair, word);
    SIZE(PairAgain, PairAgain);
    SHOW(Process, Process, common.word);
    SHOW(Process, Process, u.alive.links.word);
    SHOW(Process, Process, u.dead);
    SHOW(Process, Process, flag);
    SHOW(Process, Process, in_union);
    SHOW(Process, Process, deepest);
    SHOW(process, Process, fixed.word);
    SHOW(Process, Process, many);
    SHOW(Process, Process, tail);
    SIZE(process, Process);
    SHOW(whole, union whole, first.word);
    SIZE(whole, union whole);
    SHOW(only_tag, struct only_tag, second);
    show_others();
    return the_opaque() == NULL;
}
