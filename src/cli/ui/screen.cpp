// SPDX-License-Identifier: Apache-2.0
#include "cli/ui/screen.hpp"

#ifdef BEAMHEAP_SCREEN

#define NCURSES_WIDECHAR 1
#define NCURSES_NOMACROS 1
#include <fmt/format.h>
#include <ncurses.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <string>

#include "cli/console/terminal.hpp"

namespace beamheap::cli::ui {
namespace {

constexpr int escape_milliseconds = 25;  // after which an escape alone is the key
constexpr std::size_t most_copied = 64 * 1024;

attr_t attributes_of(Style style) {
    const auto colour = [](short pair) -> attr_t {
        return has_colors() ? static_cast<attr_t>(COLOR_PAIR(pair)) : A_NORMAL;
    };
    switch (style) {
        case Style::plain: return A_NORMAL;
        case Style::bold: return A_BOLD;
        case Style::dim: return A_DIM;
        case Style::bar:
        case Style::chosen: return A_REVERSE;
        case Style::resting: return A_UNDERLINE;
        case Style::heading: return A_BOLD;
        case Style::critical: return A_BOLD | colour(1);
        case Style::high: return A_BOLD | colour(2);
        case Style::medium: return colour(3);
        case Style::grown: return A_BOLD | colour(4);
    }
    return A_NORMAL;
}

std::string base64(std::string_view text) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    for (std::size_t at = 0; at < text.size(); at += 3) {
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; ++i)
            bits = bits << 8 | (at + i < text.size() ? static_cast<unsigned char>(text[at + i]) : 0u);
        for (std::size_t i = 0; i < 4; ++i) out += at + i > text.size() ? '=' : digits[bits >> (18 - 6 * i) & 0x3F];
    }
    return out;
}

std::optional<Key> mouse() {
    MEVENT event;
    if (::getmouse(&event) != OK) return std::nullopt;
    Key key{Key::Name::click, 0, static_cast<std::size_t>(std::max(event.x, 0)),
            static_cast<std::size_t>(std::max(event.y, 0))};
    if (event.bstate & BUTTON4_PRESSED) key.name = Key::Name::wheel_up;
    else if (event.bstate & BUTTON5_PRESSED) key.name = Key::Name::wheel_down;
    else if (event.bstate & (BUTTON1_DOUBLE_CLICKED | BUTTON1_TRIPLE_CLICKED)) key.twice = true;
    else if (!(event.bstate & (BUTTON1_CLICKED | BUTTON1_PRESSED))) return std::nullopt;
    return key;
}

}  // namespace

Result<Screen> Screen::open(bool colours) {
    std::setlocale(LC_ALL, "");
    if (MB_CUR_MAX == 1) std::setlocale(LC_ALL, "C.UTF-8");  // what is printed is UTF-8, whatever the locale
    ::set_escdelay(escape_milliseconds);
    const char* const term = std::getenv("TERM");
    const bool dumb = term == nullptr || std::string_view(term) == "dumb";
    // Servers know few of the terminals that come to them by ssh, most of which do what xterm does.
    if (dumb ||
        (::newterm(nullptr, stdout, stdin) == nullptr && ::newterm("xterm-256color", stdout, stdin) == nullptr &&
         ::newterm("xterm", stdout, stdin) == nullptr)) {
        return Error{ErrorCode::usage,
                     fmt::format("ui: nothing is known of a terminal '{}'", term == nullptr ? "" : term),
                     "Set TERM to what the terminal is (xterm, linux, vt100); `shell` needs nothing to be known."};
    }
    ::cbreak();
    ::noecho();
    ::nonl();
    ::keypad(stdscr, TRUE);
    ::nodelay(stdscr, TRUE);
    ::curs_set(0);
    // All of them, since ncurses waits for another key, delay or not, behind one that is not asked for.
    ::mousemask(ALL_MOUSE_EVENTS, nullptr);
    ::mouseinterval(0);
    if (colours && ::has_colors()) {
        ::start_color();
        ::use_default_colors();
        ::init_pair(1, COLOR_RED, -1);
        ::init_pair(2, COLOR_RED, -1);
        ::init_pair(3, COLOR_YELLOW, -1);
        ::init_pair(4, COLOR_GREEN, -1);
    }
    return Screen(true);
}

Screen::~Screen() {
    if (open_) ::endwin();
}

std::size_t Screen::width() const { return static_cast<std::size_t>(std::max(getmaxx(stdscr), 0)); }
std::size_t Screen::height() const { return static_cast<std::size_t>(std::max(getmaxy(stdscr), 0)); }

void Screen::show(const Canvas& canvas) {
    ::erase();
    for (std::size_t y = 0; y < canvas.height(); ++y)
        for (const Canvas::Run& run : canvas.line(y)) {
            ::attrset(static_cast<int>(attributes_of(run.style)));
            ::mvaddnstr(static_cast<int>(y), static_cast<int>(run.x), run.text.c_str(),
                        static_cast<int>(run.text.size()));
        }
    ::attrset(A_NORMAL);
    ::refresh();
}

std::optional<Key> Screen::key() {
    wint_t c = 0;
    const int kind = ::get_wch(&c);
    if (kind == ERR) return std::nullopt;
    if (kind == OK) switch (c) {
            case '\r':
            case '\n': return Key{Key::Name::enter};
            case '\t': return Key{Key::Name::tab};
            case 27: return Key{Key::Name::escape};
            case 8:
            case 127: return Key{Key::Name::backspace};
            case 3: return Key{Key::Name::character, 'q'};  // Ctrl-C where the terminal sends it as a key
            case 12: ::clearok(stdscr, TRUE); return key();
            default: return c < 32 ? key() : Key{Key::Name::character, static_cast<char32_t>(c)};
        }
    switch (c) {
        case KEY_UP: return Key{Key::Name::up};
        case KEY_DOWN: return Key{Key::Name::down};
        case KEY_LEFT: return Key{Key::Name::left};
        case KEY_RIGHT: return Key{Key::Name::right};
        case KEY_PPAGE: return Key{Key::Name::page_up};
        case KEY_NPAGE: return Key{Key::Name::page_down};
        case KEY_HOME: return Key{Key::Name::home};
        case KEY_END: return Key{Key::Name::end};
        case KEY_ENTER: return Key{Key::Name::enter};
        case KEY_BACKSPACE: return Key{Key::Name::backspace};
        case KEY_BTAB: return Key{Key::Name::back_tab};
        case KEY_MOUSE: {
            const auto pressed = mouse();
            return pressed ? pressed : key();
        }
        default: return key();  // KEY_RESIZE among them: the size is asked for before each painting
    }
}

void Screen::copy(std::string_view text) {
    FileSink(STDOUT_FILENO).write(fmt::format("\x1b]52;c;{}\x07", base64(text.substr(0, most_copied))));
}

}  // namespace beamheap::cli::ui

#endif
