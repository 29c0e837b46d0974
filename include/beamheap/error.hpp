// SPDX-License-Identifier: Apache-2.0
// How beamheap says "cannot": a Result that holds a value or an Error, never both.
//
// Damage that still lets an input be used is not an error: it is counted in Anomalies (anomalies.hpp).
// Library code neither prints nor exits; src/cli/frame/main.cpp turns an Error into a sentence and an exit code.
#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace beamheap {

/// Kinds of failure; src/cli maps each to one of the exit codes of the README.
enum class ErrorCode {
    usage,           ///< an option, pid, name, address or table that does not fit the input (exit 2)
    not_held,        ///< no input of this kind holds what was asked for: a crash dump has no carriers (exit 2)
    unreadable,      ///< no such file, no permission, I/O error (exit 3)
    not_recognised,  ///< not a crash dump or core, or one that can't be read by design (exit 3)
    damaged,         ///< truncated or partly unreadable, asked to be strict about it (exit 4)
    resource_limit,  ///< a bound on memory, output or nesting was reached (exit 5)
    interrupted,     ///< SIGINT (exit 130)
    findings,        ///< a gate found what it was told to fail on (exit 1)
};

/// What went wrong, in words for the user.
struct Error {
    ErrorCode code = ErrorCode::unreadable;
    std::string message;  ///< "file: place: what was expected", without the program's name and the final newline
    std::string advice;   ///< what to do about it, a sentence; may be empty
};

template <class T = std::monostate>
class [[nodiscard]] Result {
public:
    Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
    Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

    explicit operator bool() const { return state_.index() == 0; }
    T& operator*() & {
        assert(*this);
        return *std::get_if<0>(&state_);
    }
    const T& operator*() const& {
        assert(*this);
        return *std::get_if<0>(&state_);
    }
    T&& operator*() && {
        assert(*this);
        return std::move(*std::get_if<0>(&state_));
    }
    T* operator->() {
        assert(*this);
        return std::get_if<0>(&state_);
    }
    const T* operator->() const {
        assert(*this);
        return std::get_if<0>(&state_);
    }
    const Error& error() const {
        assert(!*this);
        return *std::get_if<1>(&state_);
    }
    Error& error() {
        assert(!*this);
        return *std::get_if<1>(&state_);
    }

private:
    std::variant<T, Error> state_;
};

using Status = Result<std::monostate>;
inline Status ok() { return std::monostate{}; }

/// The answer where this kind of input can give one, nothing where it can't (ErrorCode::not_held). Every other error
/// stays one, so that an answer that failed is not taken for one that there is not.
template <class T>
Result<std::optional<T>> if_held(Result<T> answer) {
    if (answer) return std::optional<T>(std::move(*answer));
    if (answer.error().code == ErrorCode::not_held) return std::optional<T>();
    return std::move(answer.error());
}

}  // namespace beamheap

#define BH_CONCAT2(a, b) a##b
#define BH_CONCAT(a, b) BH_CONCAT2(a, b)
#define BH_TRY_IMPL(tmp, declaration, expression) \
    auto tmp = (expression);                      \
    if (!tmp) return std::move(tmp.error());      \
    declaration = std::move(*tmp)
/// BH_TRY(auto x, f()): x is f's value, or this function returns f's error.
#define BH_TRY(declaration, expression) BH_TRY_IMPL(BH_CONCAT(bh_try_, __LINE__), declaration, expression)
/// BH_CHECK(f()): this function returns f's error, if there is one.
#define BH_CHECK(expression) \
    if (auto bh_status = (expression); !bh_status) return std::move(bh_status.error())
