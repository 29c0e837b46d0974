// SPDX-License-Identifier: Apache-2.0
// The functions of beamheap.h: a question is a line of the shell, asked by a program.
//
// Theory. The process is somebody else's. What the program does for itself is not done here: no rights are given up, no
// signal is handled but that of a file which is cut (bytes/cut_files.hpp), nothing is printed. What a run keeps of
// itself in one place for all (what failed to be read, whose names errors may not tell) is one call's: calls take
// turns. Nothing that is thrown leaves, and what a call failed of is kept for its thread where no memory has to be
// found for it.
#include <fmt/format.h>
#include <pthread.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <mutex>
#include <new>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "beamheap/beamheap.h"
#include "beamheap_version.hpp"
#include "bytes/cut_files.hpp"
#include "cli/console/terminal.hpp"
#include "cli/frame/command_line/option_table.hpp"
#include "cli/frame/commands.hpp"
#include "cli/frame/help.hpp"
#include "cli/frame/named_nodes.hpp"
#include "cli/frame/secrets.hpp"
#include "cli/library/arrow_rows.hpp"
#include "present/plain_table.hpp"
#include "present/render.hpp"
#include "present/sanitise.hpp"

using namespace beamheap;
using cli::Options;

struct beamheap_input {
    Options session;
    cli::LoadedInput loaded;
    std::vector<std::string> secrets;
    bool cut = false;  // zeros stand in it where nothing was
};

namespace {

constexpr std::size_t longest_sentence = 4'000;

// What the last call on a thread failed of. No variable of threads: of these a library that is loaded late has few
// bytes.
struct Said {
    std::array<char, longest_sentence> message{}, advice{};
};

Said& said() {
    static const pthread_key_t key = [] {
        pthread_key_t made{};
        return ::pthread_key_create(&made, &std::free) == 0 ? made : static_cast<pthread_key_t>(-1);
    }();
    static Said of_all;  // where there is no room for a thread's own
    auto* mine = static_cast<Said*>(::pthread_getspecific(key));
    if (mine != nullptr) return *mine;
    mine = static_cast<Said*>(std::calloc(1, sizeof(Said)));
    if (mine == nullptr || ::pthread_setspecific(key, mine) != 0) {
        std::free(mine);
        return of_all;
    }
    return *mine;
}

void put(std::string_view text, std::array<char, longest_sentence>& into) {
    std::size_t size = std::min(text.size(), into.size() - 1);
    while (size < text.size() && size > 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
    std::memcpy(into.data(), text.data(), size);
    into[size] = '\0';
}

int failed(ErrorCode code, std::string_view message, std::string_view advice = {}) {
    put(message, said().message);
    put(advice, said().advice);
    return cli::exit_code(code);
}

int failed(const Error& error) {
    return failed(error.code, present::safe_text(error.message), present::safe_text(error.advice));
}

std::mutex turns;  // which calls take

// `input`: whose files are looked at; null: none that stays. What fails takes back what it has given.
template <class What, class TakeBack>
int guarded(beamheap_input* input, const What& what, const TakeBack& take_back) noexcept {
    put({}, said().message);
    put({}, said().advice);
    try {
        const std::lock_guard turn(turns);
        cli::be_guest();
        const bytes::CutGuard guard;
        constexpr std::string_view cut = "the input became shorter while it was read";
        constexpr std::string_view again = "Open it again when it is whole, or a copy of it.";
        if (input != nullptr && input->cut) return failed(ErrorCode::unreadable, cut, again);
        const Status status = [&] {
            try {
                return what();
            } catch (...) {
                take_back();
                throw;
            }
        }();
        if (!status || guard.cut()) take_back();
        if (guard.cut()) {
            if (input != nullptr) input->cut = true;
            return failed(ErrorCode::unreadable, cut, again);
        }
        return status ? 0 : failed(status.error());
    } catch (const std::bad_alloc&) {
        return failed(ErrorCode::resource_limit, "out of memory");
    } catch (const std::exception& error) {
        return failed(ErrorCode::resource_limit, error.what());
    } catch (...) {
        return failed(ErrorCode::resource_limit, "something was thrown that says nothing of itself");
    }
}

Error missing(std::string_view what) { return {ErrorCode::usage, fmt::format("{} is NULL", what), {}}; }

std::vector<std::string> listed(const char* const* words) {
    std::vector<std::string> all;
    while (words != nullptr && *words != nullptr) all.emplace_back(*words++);
    return all;
}

Result<char*> copied(std::string_view text) {
    auto* const copy = static_cast<char*>(std::malloc(text.size() + 1));
    if (copy == nullptr) return Error{ErrorCode::resource_limit, "out of memory", {}};
    std::memcpy(copy, text.data(), text.size());
    copy[text.size()] = '\0';
    return copy;
}

// What holds for all questions where nobody says otherwise, as a session's options.
Result<Options> session_of(const char* path, const char* const* options) {
    std::vector<std::string> words{"beamheap", "shell", "--format=json", "--redact=values", "--progress=never"};
    for (std::string& each : listed(options)) words.push_back(std::move(each));
    words.insert(words.end(), {"--", path});
    BH_TRY(Options session, cli::parse_options(std::move(words), Options()));
    if (session.help || session.inputs.size() != 1)
        return Error{ErrorCode::usage, "options hold words that are none",
                     "Each value behind its option, as in --redact=none."};
    return session;
}

// Has a question answered: of an input, or of those that it names.
Status ask(beamheap_input* input, std::vector<std::string> words, const cli::AnswerTaker& taker) {
    if (words.empty()) return Error{ErrorCode::usage, "no verb is asked", {}};
    for (const std::string& each : words)
        if (each == "--help" || each == "-h")
            return Error{ErrorCode::usage, "help is no answer about an input", "beamheap_verbs() has what verbs take."};
    if (input == nullptr) {
        BH_TRY(const Options session, session_of("-", nullptr));
        return cli::take_answer_of(std::move(words), session, taker);
    }
    if (cli::find_command(words.front()) == nullptr)
        return Error{ErrorCode::usage, fmt::format("there is no verb '{}'", words.front()), {}};
    return cli::take_answer(std::move(words), input->session, input->loaded, taker);
}

present::RenderOptions with_secrets(present::RenderOptions render, const beamheap_input* input) {
    if (input != nullptr)
        render.redact.known_secrets.insert(render.redact.known_secrets.end(), input->secrets.begin(),
                                           input->secrets.end());
    return render;
}

Status answer(beamheap_input* input, std::vector<std::string> words, char** into) {
    std::string text;
    const cli::AnswerTaker take = [&](const present::Document& document,
                                      const present::RenderOptions& given) -> Status {
        present::StringSink sink;
        BH_CHECK(present::render(document, with_secrets(given, input), sink));
        text += sink.text();
        return ok();
    };
    BH_CHECK(ask(input, std::move(words), take));
    BH_TRY(*into, copied(text));
    return ok();
}

Status open(const char* path, const char* const* options, beamheap_input** input) {
#ifdef __POPCNT__
    if (!__builtin_cpu_supports("popcnt"))
        return Error{ErrorCode::resource_limit, "this processor lacks the POPCNT instruction", {}};
#endif
    if (std::string_view(path) == "-")
        return Error{ErrorCode::usage, "standard input is the process's own", "Name a file."};
    BH_TRY(Options session, session_of(path, options));
    BH_CHECK(cli::find_named_nodes(session, *cli::find_command("shell")));
    BH_TRY(cli::LoadedInput loaded, cli::load_for_questions(cli::Context(session), session.inputs.front()));
    std::vector<std::string> secrets = cli::known_secrets(*loaded.artifact);
    *input = new beamheap_input{std::move(session), std::move(loaded), std::move(secrets)};
    return ok();
}

Status select_arrow(beamheap_input* input, const char* query, ArrowSchema& schema, ArrowArray& array) {
    bool any = false;
    const cli::AnswerTaker take = [&](const present::Document& document,
                                      const present::RenderOptions& given) -> Status {
        const auto redactor = std::make_shared<const present::Redactor>(with_secrets(given, input).redact);
        for (const present::Member& member : document.members) {
            const auto* table = std::get_if<present::Table>(&member.body);
            if (table == nullptr || any) continue;
            BH_CHECK(cli::to_arrow(present::PlainTable(*table, redactor), schema, array));
            any = true;
        }
        return ok();
    };
    BH_CHECK(ask(input, {"sql", "--", query}, take));
    return any ? ok() : Status(Error{ErrorCode::usage, "the query has no rows to give", {}});
}

}  // namespace

extern "C" {

const char* beamheap_version(void) { return BEAMHEAP_VERSION; }

int beamheap_open(const char* path, const char* const* options, beamheap_input** input) {
    if (input != nullptr) *input = nullptr;
    return guarded(
        nullptr,
        [&]() -> Status {
            if (path == nullptr || input == nullptr) return missing(path == nullptr ? "path" : "input");
            return open(path, options, input);
        },
        [&] {
            if (input != nullptr) delete std::exchange(*input, nullptr);
        });
}

void beamheap_close(beamheap_input* input) {
    guarded(
        nullptr,
        [&] {
            delete input;
            return ok();
        },
        [] {});
}

int beamheap_ask(beamheap_input* input, const char* const* words, char** answer) {
    if (answer != nullptr) *answer = nullptr;
    return guarded(
        input,
        [&]() -> Status {
            if (words == nullptr || answer == nullptr) return missing(words == nullptr ? "words" : "answer");
            return ::answer(input, listed(words), answer);
        },
        [&] {
            if (answer != nullptr) std::free(std::exchange(*answer, nullptr));
        });
}

int beamheap_select(beamheap_input* input, const char* query, char** answer) {
    if (answer != nullptr) *answer = nullptr;
    return guarded(
        input,
        [&]() -> Status {
            if (input == nullptr || query == nullptr || answer == nullptr)
                return missing(input == nullptr ? "input" : query == nullptr ? "query" : "answer");
            return ::answer(input, {"sql", "--", query}, answer);
        },
        [&] {
            if (answer != nullptr) std::free(std::exchange(*answer, nullptr));
        });
}

int beamheap_select_arrow(beamheap_input* input, const char* query, ArrowSchema* schema, ArrowArray* array) {
    if (schema != nullptr) *schema = {};
    if (array != nullptr) *array = {};
    return guarded(
        input,
        [&]() -> Status {
            if (input == nullptr || query == nullptr || schema == nullptr || array == nullptr)
                return missing(input == nullptr ? "input" : query == nullptr ? "query" : "schema or array");
            return select_arrow(input, query, *schema, *array);
        },
        [&] {
            if (schema != nullptr && schema->release != nullptr) schema->release(schema);
            if (array != nullptr && array->release != nullptr) array->release(array);
        });
}

int beamheap_verbs(char** answer) {
    if (answer != nullptr) *answer = nullptr;
    return guarded(
        nullptr,
        [&]() -> Status {
            if (answer == nullptr) return missing("answer");
            BH_TRY(const Options options, session_of("-", nullptr));
            std::string text;
            const cli::AnswerTaker taker = [&](const present::Document& document,
                                               const present::RenderOptions& given) -> Status {
                present::StringSink sink;
                BH_CHECK(present::render(document, given, sink));
                text = sink.text();
                return ok();
            };
            BH_CHECK(cli::Context(options, nullptr, &taker).print(cli::help_document()));
            BH_TRY(*answer, copied(text));
            return ok();
        },
        [] {});
}

void beamheap_free(char* answer) { std::free(answer); }

const char* beamheap_error(void) { return said().message.data(); }
const char* beamheap_advice(void) { return said().advice.data(); }

}  // extern "C"
