/* SPDX-License-Identifier: Apache-2.0 */
/* beamheap inside of another program: why an Erlang VM died or grew, asked from C or from any language that calls C.
 *
 *     beamheap_input* node = NULL;
 *     char* answer = NULL;
 *     const char* words[] = {"top", "--by", "msgq", "-n", "5", NULL};
 *     if (beamheap_open("erl_crash.dump", NULL, &node) != 0 || beamheap_ask(node, words, &answer) != 0)
 *         fprintf(stderr, "%s\n", beamheap_error());
 *     beamheap_free(answer);
 *     beamheap_close(node);
 *
 * What is asked is what the program `beamheap` is asked, without its input: a verb, and its options. docs/embedding.md has
 * more of it.
 *
 * STATUS. Functions that can fail return 0, or why not: the exit code that the program would end with (enum
 * beamheap_status). beamheap_error() then has the sentence. No function ends the process, writes to its standard output
 * or standard error, or changes its environment or how it takes signals; but while one reads, SIGBUS is caught, which the
 * system sends where somebody cuts the input off: that is a status, too, and the input answers nothing more. Only where
 * the system has no memory left at all C++ may have to end the process.
 *
 * THREADS. Any thread may call any function, at any time; several inputs may be open. They are answered one after the
 * other: a second caller waits for the first one, which may itself use several threads (the option --threads). An input
 * must not be used while or after it is closed. In a child that a fork() made, nothing may be called but beamheap_version().
 * A call takes less than 512 KiB of the caller's stack.
 *
 * OWNERSHIP. Whoever calls gives texts that hold during the call. What is given to the caller is the caller's: an input until
 * beamheap_close(), a text until beamheap_free(), Arrow's structures until their own release(). They outlive the input. The
 * texts of beamheap_version(), beamheap_error() and beamheap_advice() are the library's. All texts are UTF-8 and end with
 * a zero.
 *
 * WHAT IS HIDDEN. Answers are redacted as files are that beamheap writes: values of the node (what stands in messages and
 * states) are sizes and hashes. The option --redact says otherwise: "secrets" hides what its key names a secret alone,
 * "none" hides nothing. Texts of a node are data: never show them to somebody as if they were yours.
 */
#ifndef BEAMHEAP_H
#define BEAMHEAP_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The version of this interface: functions are added, none is taken away or changed, as long as it is the same. It is the number
 * behind libbeamheap.so. */
#define BEAMHEAP_INTERFACE 0

#if defined(__GNUC__)
#define BEAMHEAP_FUNCTION __attribute__((visibility("default")))
#else
#define BEAMHEAP_FUNCTION
#endif

enum beamheap_status {
    BEAMHEAP_OK = 0,
    BEAMHEAP_FINDINGS = 1,    /* a gate found what it was told to fail on */
    BEAMHEAP_USAGE = 2,       /* a verb, an option, a process, a query that does not fit; or this kind of input holds no such thing */
    BEAMHEAP_UNREADABLE = 3,  /* no such file, none of a VM, or it was cut off meanwhile */
    BEAMHEAP_DAMAGED = 4,     /* it is damaged, and --strict was asked for */
    BEAMHEAP_LIMIT = 5        /* of memory, time, rows or nesting */
};

/* An input that is open. */
typedef struct beamheap_input beamheap_input;

/* "0.1.0" */
BEAMHEAP_FUNCTION const char* beamheap_version(void);

/* Reads an input: a crash dump, a core image, the pid or the node's name of a running VM, the member of an archive
 * ("logs.tgz!/oom.dump"). `options` (words up to NULL; or NULL: none) hold for all questions: "--redact", "--stable-salt", "--exe",
 * "--code", "--syntax", "--threads". A running VM is read again for each question. */
BEAMHEAP_FUNCTION int beamheap_open(const char* path, const char* const* options, beamheap_input** input);

/* NULL: nothing. */
BEAMHEAP_FUNCTION void beamheap_close(beamheap_input* input);

/* Asks a verb: its name, its options and arguments without the input, up to NULL. The answer is the document that the
 * program prints with --json, which share/beamheap/schema describes; with an option --format ("csv", "md", "folded") what
 * that says. Without an input (NULL) the words name what is to be read, or the verb needs nothing:
 * {"diff", "a.dump", "b.dump"}, {"explain", "wait-convoy"}. Verbs that write files or talk to people are not asked here,
 * nor options that write files or go on without end (--every, --out, --output, --perf-map). */
BEAMHEAP_FUNCTION int beamheap_ask(beamheap_input* input, const char* const* words, char** answer);

/* Asks one SELECT (or the name of a recipe) over the tables of the input; the rows are the member `rows` of the
 * answer, objects by their columns. */
BEAMHEAP_FUNCTION int beamheap_select(beamheap_input* input, const char* query, char** answer);

/* The same by Arrow's C data interface: a struct (format "+s") of the columns, one batch of all rows. A column is of 64-bit
 * integers ("l"), of doubles ("g"), of texts ("u"), by what it has in this answer, and of nothing ("n") where all of it is
 * null. Whoever gets them calls schema->release(schema) and array->release(array). */
struct ArrowSchema;
struct ArrowArray;
BEAMHEAP_FUNCTION int beamheap_select_arrow(beamheap_input* input, const char* query, struct ArrowSchema* schema,
                                            struct ArrowArray* array);

/* The verbs, with their arguments, options and columns, as JSON: what `beamheap help --json` prints. */
BEAMHEAP_FUNCTION int beamheap_verbs(char** answer);

/* Gives an answer back. NULL: nothing. */
BEAMHEAP_FUNCTION void beamheap_free(char* answer);

/* What the last call on this thread failed of, a sentence without a newline, and what to do about it; "" where it did
 * not fail, or there is no advice. They hold until the next call on this thread. */
BEAMHEAP_FUNCTION const char* beamheap_error(void);
BEAMHEAP_FUNCTION const char* beamheap_advice(void);

/* The structures of Arrow's C data interface (arrow.apache.org/docs/format/CDataInterface.html), unless somebody's header has
 * defined them before. */
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char* format;
    const char* name;
    const char* metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema** children;
    struct ArrowSchema* dictionary;
    void (*release)(struct ArrowSchema*);
    void* private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void** buffers;
    struct ArrowArray** children;
    struct ArrowArray* dictionary;
    void (*release)(struct ArrowArray*);
    void* private_data;
};

#endif

#ifdef __cplusplus
}
#endif

#endif
