// SPDX-License-Identifier: Apache-2.0
// The terminal: a canvas in, keys out, by ncurses.
#pragma once

#include <optional>
#include <string_view>

#include "beamheap/error.hpp"
#include "cli/ui/browser.hpp"
#include "cli/ui/canvas.hpp"

namespace beamheap::cli::ui {

class Screen {
public:
    /// Takes the terminal of standard input and output. `colours`: whether styles may be told by them. Errors (usage):
    /// nothing is known of the terminal that TERM names.
    static Result<Screen> open(bool colours);
    Screen(Screen&& other) noexcept : open_(other.open_) { other.open_ = false; }
    Screen& operator=(Screen&&) = delete;
    /// Gives the terminal back as it was.
    ~Screen();

    std::size_t width() const;
    std::size_t height() const;
    void show(const Canvas& canvas);
    /// The next key that has been pressed; waits for none. A size that has changed is no key.
    std::optional<Key> key();
    /// Asks the terminal to put a text into the clipboard (OSC 52); those that can't do nothing.
    void copy(std::string_view text);

private:
    explicit Screen(bool open) : open_(open) {}
    bool open_;
};

}  // namespace beamheap::cli::ui
