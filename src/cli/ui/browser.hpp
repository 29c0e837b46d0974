// SPDX-License-Identifier: Apache-2.0
// Somebody walks through an input: what he looks at, how he came there, and what his keys do.
//
// The browser knows neither a terminal nor an input. It takes keys and replies, says which questions it wants asked,
// and paints itself. Each entry of the contents has a path of its own, from its first page down to where its reader
// is: who comes back finds it as he left it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/ui/answer_process.hpp"
#include "cli/ui/canvas.hpp"
#include "cli/ui/page_view.hpp"
#include "cli/ui/places.hpp"
#include "cli/ui/trends.hpp"

namespace beamheap::cli::ui {

struct Key {
    enum class Name : std::uint8_t {
        character,  ///< `character`
        up,
        down,
        left,
        right,
        page_up,
        page_down,
        home,
        end,
        enter,
        escape,
        backspace,
        tab,
        back_tab,
        click,  ///< at (x, y)
        wheel_up,
        wheel_down,
    };
    Name name = Name::character;
    char32_t character = 0;
    std::size_t x = 0;
    std::size_t y = 0;
    bool twice = false;  ///< a click that was one of two, or more
};

/// What only the program around it can do.
struct Errand {
    enum class Kind : std::uint8_t { copy, write, give_up, remember } kind;
    std::string text = {};  ///< to be put into the clipboard, into the file, among the lines that were typed
    std::string file = {};  ///< of write: a new file's name
    bool more = false;      ///< of write: what is to be put behind it comes in further errands, the last one without
};

class Browser {
public:
    /// `input` is the path as it was given; `live`: a VM that runs, whose pages are asked again and again; `large`: one
    /// whose findings take time. That begins with the table of processes, which does not, and finds meanwhile.
    Browser(std::string input, bool live, bool large = false);

    void key(const Key& key);
    void reply(Reply reply);
    /// Time for another reading of what is shown (of a VM that runs).
    void read_again();
    void paint(Canvas& canvas);

    /// Questions that came up since the last call; what was asked on the same lane before is of no use any more.
    std::vector<Wanted> wanted();
    /// What is to be done next, one after the other; nothing: that was all.
    std::optional<Errand> errand();
    /// Lines that were typed at another time, oldest first.
    void recall_from(std::vector<std::string> lines) { typed_before_ = std::move(lines); }
    /// What came of an errand, in a sentence.
    void tell(std::string sentence);
    /// He has seen enough.
    bool done() const { return done_; }
    /// Why there is nothing to be seen: the input could not be read.
    const std::optional<Error>& failed() const { return failed_; }

private:
    enum class State : std::uint8_t { to_ask, asked, shown, failed };
    struct Place {
        Subject subject;
        std::size_t question = 0;
        PageView view;
        State state = State::to_ask;
        bool behind = false;       // it is asked behind what is looked at
        bool early = false;        // it was answered before all was loaded
        std::uint32_t number = 0;  // of the question that is asked
        std::string error;
        const Question& asked() const { return subject.questions[question]; }
    };
    enum class Mode : std::uint8_t { browse, filter, choose, command, file, help, text };

    Place& place() { return paths_[section_].back(); }
    void open(Subject subject);
    void open_section(std::size_t section);
    void turn_to(std::size_t question);
    void all_is_loaded();
    void find_behind();
    void enter();
    void back();
    void browse(const Key& key);
    void character(char32_t c);
    void typed(const Key& key);
    void finish_typing();
    void recall(bool older);
    void write_to(const std::string& file);
    void choose(const std::string& condition);
    void search(const std::string& text);
    void mark();
    void show_text(std::string title, std::string text);
    std::string text_of_selected();

    void paint_title(Canvas& canvas);
    void paint_contents(Canvas& canvas);
    void paint_place(Canvas& canvas, Area area);
    void paint_side(Canvas& canvas, Area area);
    void paint_keys(Canvas& canvas);
    void paint_help(Canvas& canvas, Area area);
    void want_side();
    void want_rows();
    void take_piece(const Reply& reply);
    void end_file(std::string_view why);
    std::uint64_t rows_held() const;
    void ask(Place& at, Lane lane);

    std::string input_;
    bool live_;
    bool large_;
    bool loaded_ = false;
    bool paused_ = false;
    std::string progress_;
    std::optional<Error> failed_;
    bool done_ = false;
    std::vector<std::vector<Place>> paths_;  // by section
    std::size_t section_ = 0;
    bool in_contents_ = false;
    Mode mode_ = Mode::browse;
    std::string typing_;
    std::string told_;
    std::vector<std::string> typed_before_;  // oldest first
    std::size_t recalled_ = 0;
    std::string text_title_;
    PageView text_;
    std::uint32_t last_number_ = 0;
    Trends trends_;  // of a VM that runs
    std::vector<Wanted> wanted_;
    std::deque<Errand> errands_;
    std::uint32_t file_number_ = 0;  // of the question whose rows are written; 0: none is
    std::string file_;
    std::optional<std::pair<present::PageTable, std::size_t>> marked_;

    // Beside the table: where the row leads.
    bool side_shown_ = false;
    PageView side_;
    std::vector<std::string> side_words_;
    std::uint32_t side_number_ = 0;

    Area contents_area_;
    Area place_area_;
};

}  // namespace beamheap::cli::ui
