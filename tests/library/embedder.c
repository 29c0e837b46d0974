/* SPDX-License-Identifier: Apache-2.0 */
/* What an embedding program may count on, line by line: embedder REPORT DUMP OTHER CUT. REPORT gets the lines, standard output and
 * standard error nothing; CUT is an input of its own, which is cut off while it is open. */
#include <beamheap/beamheap.h>
#include <inttypes.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE* report;

static const char* const* questions(int i) {
    static const char* const analyze[] = {"analyze", NULL};
    static const char* const top[] = {"top", "--by", "msgq", "-n", "5", NULL};
    static const char* const heap[] = {"heap", "log_event", NULL};
    static const char* const csv[] = {"memory", NULL};
    static const char* const profile[] = {"profile", "--format", "md", NULL};
    static const char* const missing[] = {"proc", "0.99999.0", NULL};
    static const char* const* const all[] = {analyze, top, heap, profile, missing, csv};
    return i < (int)(sizeof all / sizeof *all) ? all[i] : NULL;
}

/* The answer, or the sentence in its place. */
static char* told(beamheap_input* input, const char* const* words) {
    char* answer = NULL;
    if (beamheap_ask(input, words, &answer) == 0) return answer;
    if (answer != NULL) return NULL;
    answer = malloc(strlen(beamheap_error()) + 1);
    return strcpy(answer, beamheap_error());
}

struct asking {
    beamheap_input* input;
    char** expected;
    int wrong;
};

static void* ask_all(void* argument) {
    struct asking* asking = argument;
    for (int round = 0; round < 3; ++round)
        for (int i = 0; questions(i) != NULL; ++i) {
            char* answer = told(asking->input, questions(i));
            if (answer == NULL || strcmp(answer, asking->expected[i]) != 0) ++asking->wrong;
            beamheap_free(answer);
        }
    return NULL;
}

/* Two inputs, four threads, each on the stack that the header promises to be enough. */
static void ask_from_threads(beamheap_input* first, beamheap_input* second) {
    char* expected[2][8] = {{NULL}};
    beamheap_input* inputs[] = {first, second};
    for (int which = 0; which < 2; ++which)
        for (int i = 0; questions(i) != NULL; ++i) expected[which][i] = told(inputs[which], questions(i));
    fprintf(report, "unlike answers of two inputs: %d\n", strcmp(expected[0][0], expected[1][0]) != 0);
    pthread_t threads[4];
    struct asking asking[4];
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 512 * 1024);
    int wrong = 0;
    for (int i = 0; i < 4; ++i) {
        asking[i].input = inputs[i % 2];
        asking[i].expected = expected[i % 2];
        asking[i].wrong = 0;
        if (pthread_create(&threads[i], &small, &ask_all, &asking[i]) != 0) abort();
    }
    for (int i = 0; i < 4; ++i) {
        pthread_join(threads[i], NULL);
        wrong += asking[i].wrong;
    }
    fprintf(report, "wrong answers of four threads: %d\n", wrong);
    for (int which = 0; which < 2; ++which)
        for (int i = 0; questions(i) != NULL; ++i) beamheap_free(expected[which][i]);
}

static int is_null(const struct ArrowArray* array, int64_t row) {
    const unsigned char* valid = array->n_buffers > 0 ? array->buffers[0] : NULL;
    return array->n_buffers == 0 || (valid != NULL && (valid[row / 8] >> row % 8 & 1) == 0);
}

static void print_cell(const struct ArrowSchema* schema, const struct ArrowArray* array, int64_t row) {
    if (is_null(array, row)) fputs("null", report);
    else if (strcmp(schema->format, "l") == 0) fprintf(report, "%" PRId64, ((const int64_t*)array->buffers[1])[row]);
    else if (strcmp(schema->format, "g") == 0) fprintf(report, "%.3f", ((const double*)array->buffers[1])[row]);
    else {
        const int32_t* offsets = array->buffers[1];
        fprintf(report, "%.*s", (int)(offsets[row + 1] - offsets[row]), (const char*)array->buffers[2] + offsets[row]);
    }
}

static void select_by_arrow(beamheap_input* input, const char* query) {
    struct ArrowSchema schema;
    struct ArrowArray array;
    if (beamheap_select_arrow(input, query, &schema, &array) != 0) {
        fprintf(report, "arrow: %s; %s released\n", beamheap_error(), schema.release == NULL && array.release == NULL ? "is" : "is not");
        return;
    }
    fprintf(report, "arrow: %s of %" PRId64 " columns, %" PRId64 " rows\n", schema.format, schema.n_children, array.length);
    for (int64_t i = 0; i < schema.n_children; ++i)
        fprintf(report, "column %s %s, %" PRId64 " null\n", schema.children[i]->name, schema.children[i]->format, array.children[i]->null_count);
    for (int64_t row = 0; row < array.length; ++row)
        for (int64_t i = 0; i < schema.n_children; ++i) {
            print_cell(schema.children[i], array.children[i], row);
            fputc(i + 1 < schema.n_children ? '\t' : '\n', report);
        }
    /* One column is moved away, as consumers may: it stays when the others go. */
    struct ArrowArray moved = *array.children[0];
    array.children[0]->release = NULL;
    array.release(&array);
    schema.release(&schema);
    fprintf(report, "arrow: released %d, moved column of %" PRId64 " rows\n", array.release == NULL && schema.release == NULL, moved.length);
    moved.release(&moved);
}

/* What is gone of an input is an error of that input, for good, and of no other. */
static void cut_off(const char* path, beamheap_input* other) {
    beamheap_input* input = NULL;
    const char* const full[] = {"analyze", "--full", NULL};
    const char* const short_one[] = {"doctor", NULL};
    int status = beamheap_open(path, NULL, &input);
    if (status != 0) {
        fprintf(report, "cut: can't be opened: %s\n", beamheap_error());
        return;
    }
    if (truncate(path, 8192) != 0) abort();
    for (int i = 0; i < 2; ++i) {
        char* answer = NULL;
        status = beamheap_ask(input, i == 0 ? full : short_one, &answer);
        fprintf(report, "cut: %d %s\n", status, answer != NULL ? "an answer" : beamheap_error());
        beamheap_free(answer);
    }
    beamheap_close(input);
    char* answer = told(other, short_one);
    fprintf(report, "the other one: %s\n", answer != NULL && answer[0] == '{' ? "answers" : "does not");
    beamheap_free(answer);
}

static void on_bus_error(int number) { _exit(number); }

static const int untouched[] = {SIGINT, SIGTERM, SIGPIPE, SIGXFSZ};
static struct sigaction at_start[4]; /* whoever started this may have some ignored */

static const char* handlers_stay(void) {
    struct sigaction now;
    sigaction(SIGBUS, NULL, &now);
    if (now.sa_handler != &on_bus_error) return "SIGBUS is taken otherwise";
    for (int i = 0; i < 4; ++i) {
        sigaction(untouched[i], NULL, &now);
        if (now.sa_handler != at_start[i].sa_handler) return "a signal is taken otherwise";
    }
    return "stay";
}

int main(int count, char** arguments) {
    if (count != 5 || (report = fopen(arguments[1], "w")) == NULL) return 2;
    for (int i = 0; i < 4; ++i) sigaction(untouched[i], NULL, &at_start[i]);
    struct sigaction mine;
    memset(&mine, 0, sizeof mine);
    mine.sa_handler = &on_bus_error;
    sigaction(SIGBUS, &mine, NULL);

    beamheap_input *first = NULL, *second = NULL, *none = NULL;
    const char* const shown[] = {"--redact", "none", NULL};
    const char* const wrong[] = {"--redcat", "none", NULL};
    char* answer = NULL;
    fprintf(report, "version %s\n", beamheap_version());
    fprintf(report, "missing file: %d %s\n", beamheap_open("/nowhere/erl_crash.dump", NULL, &none), beamheap_error());
    int status = beamheap_open(arguments[0], NULL, &none);
    fprintf(report, "no dump: %d %d\n", status, none == NULL && beamheap_error()[0] != '\0');
    fprintf(report, "wrong option: %d %s %s\n", beamheap_open(arguments[2], wrong, &none), beamheap_error(), beamheap_advice());
    fprintf(report, "nothing: %d %s\n", beamheap_open(NULL, NULL, &none), beamheap_error());
    fprintf(report, "open: %d %s\n", beamheap_open(arguments[2], NULL, &first), beamheap_error());
    fprintf(report, "open: %d %s\n", beamheap_open(arguments[3], shown, &second), beamheap_error());
    if (first == NULL || second == NULL) return 1;

    const char* const verbless[] = {"nosuch", NULL};
    const char* const writes[] = {"export", "x.sqlite", NULL};
    const char* const bytes[] = {"stacks", "--format", "pprof", NULL};
    const char* const help[] = {"top", "--help", NULL};
    const char* const* const refused[] = {verbless, writes, bytes, help};
    for (int i = 0; i < 4; ++i) {
        status = beamheap_ask(first, refused[i], &answer);
        fprintf(report, "refused: %d %d %s\n", status, answer == NULL, beamheap_error());
    }
    fprintf(report, "refused: %d %s\n", beamheap_select(first, "DELETE FROM process", &answer), beamheap_error());
    fprintf(report, "refused: %d %s\n", beamheap_ask(NULL, writes, &answer), beamheap_error());

    const char* const explain[] = {"explain", "wait-convoy", NULL};
    const char* const diff[] = {"diff", arguments[2], arguments[3], NULL};
    status = beamheap_ask(NULL, explain, &answer);
    fprintf(report, "explain: %d %d\n", status, answer != NULL && strstr(answer, "wait-convoy") != NULL);
    beamheap_free(answer);
    status = beamheap_ask(NULL, diff, &answer);
    fprintf(report, "diff: %d %d\n", status, answer != NULL && strstr(answer, "\"diff\"") != NULL);
    beamheap_free(answer);
    status = beamheap_verbs(&answer);
    fprintf(report, "verbs: %d %d\n", status, answer != NULL && strstr(answer, "\"analyze\"") != NULL);
    beamheap_free(answer);

    ask_from_threads(first, second);
    select_by_arrow(first, "SELECT pid, msgq_len, msgq_len / 2.0 AS half, NULL AS missing, CASE WHEN msgq_len > 50 THEN 'long' END AS word "
                           "FROM process ORDER BY msgq_len DESC, pid LIMIT 3");
    select_by_arrow(first, "SELECT pid FROM process WHERE 0");
    select_by_arrow(first, "SELECT no_such_column FROM process");
    cut_off(arguments[4], second);
    fprintf(report, "signals: %s\n", handlers_stay());
    beamheap_close(first);
    beamheap_close(second);
    beamheap_close(NULL);
    beamheap_free(NULL);
    return fclose(report) == 0 ? 0 : 1;
}
