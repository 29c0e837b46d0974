#include "support/dump_file.hpp"

namespace test {

using namespace beamheap;
using namespace beamheap::crashdump;

namespace {

bool section_of(std::string_view tag, TermSection& section) {
    if (tag == "proc_messages")
        section = TermSection::messages;
    else if (tag == "proc_dictionary")
        section = TermSection::dictionary;
    else if (tag == "proc_stack")
        section = TermSection::stack;
    else if (tag == "proc_heap")
        section = TermSection::heap;
    else if (tag == "literals")
        section = TermSection::literals;
    else
        return false;
    return true;
}

bool looks_like_tag(std::string_view text) {
    std::size_t i = 1;
    while (i < text.size() && ((text[i] >= 'a' && text[i] <= 'z') || text[i] == '_')) ++i;
    return i > 2 && i < text.size() && (text[i] == ':' || text[i] == '\n' || text[i] == '\r');
}

}  // namespace

void DumpFile::cut() {
    const std::string_view text = text_;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t eol = std::min(text.find('\n', at), text.size() - 1);
        std::string_view line = text.substr(at + 1, eol - at - 1);
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        const std::size_t colon = line.find(':');
        DumpSection section{
            line.substr(0, colon), colon == line.npos ? std::string_view{} : line.substr(colon + 1), {}};
        const std::size_t body = eol + 1;
        std::size_t end = body;
        TermSection kind{};
        const bool terms = section_of(section.tag, kind);
        for (;; ++end) {
            end = end == body && body < text.size() && text[body] == '=' ? body : text.find("\n=", end);
            if (end == std::string_view::npos) {
                end = text.size();
                break;
            }
            if (text[end] == '\n') ++end;
            if (section.tag == "erl_crash_dump" && text.substr(body, end - body).find("System version: ") == text.npos)
                continue;
            if (!looks_like_tag(text.substr(end, 100))) continue;
            if (terms && end != body &&
                line_starts_after(kind, TermStyle{}, text.substr(body, end - body), true) != LineStart::yes)
                continue;
            break;
        }
        section.body = text.substr(body, end - body);
        sections_.push_back(section);
        at = end;
    }
}

HeapDialect DumpFile::dialect() const {
    HeapDialect dialect;
    const DumpSection& head = sections_.front();
    dialect.style.base64 = head.id == "0.5";
    dialect.style.crlf = head.body.find("\r\n") != head.body.npos && sections_.back().body.empty();
    const std::string_view version = DumpFile::field(head.body, "System version");
    if (const std::size_t otp = version.find("OTP "); otp != version.npos)
        dialect.otp = static_cast<std::uint32_t>(std::stoul(std::string(version.substr(otp + 4))));
    else if (const std::size_t r = version.find("Erlang R"); r != version.npos)
        dialect.otp = static_cast<std::uint32_t>(std::stoul(std::string(version.substr(r + 8))));
    dialect.word_bytes = version.find("[64-bit]") != version.npos ? 8 : 4;
    dialect.frames_end_with_return = dialect.otp >= 23;
    dialect.latin1_atoms = dialect.otp != 0 && dialect.otp <= 15;
    for (const DumpSection& s : sections_) {
        if (s.tag != "node") continue;
        dialect.node_name = s.id.size() > 2 && s.id.front() == '\'' ? s.id.substr(1, s.id.size() - 2) : s.id;
    }
    return dialect;
}

std::shared_ptr<SharedTerms> DumpFile::shared() const {
    const HeapDialect own = dialect();
    auto shared = std::make_shared<SharedTerms>(own);
    for (const DumpSection& s : sections_) {
        if (s.tag == "literals") shared->feed_literals(s.body, true);
        if (s.tag != "binary") continue;
        const std::size_t colon = s.body.find(':');
        if (colon == s.body.npos) continue;
        const std::uint64_t address = std::stoull(std::string(s.id), nullptr, 16);
        const std::uint64_t bytes = std::stoull(std::string(s.body.substr(0, colon)), nullptr, 16);
        shared->binaries().add(address, bytes, 0);
        std::string_view data = s.body.substr(colon + 1);
        while (!data.empty() && (data.back() == '\n' || data.back() == '\r')) data.remove_suffix(1);
        shared->keep_binary(address, data);
    }
    shared->seal();
    return shared;
}

HeapFacts DumpFile::facts(std::string_view pid) const {
    HeapFacts facts;
    if (const DumpSection* proc = find("proc", pid)) {
        facts.heap_words = number(proc->body, "Stack+heap");
        facts.heap_unused_words = number(proc->body, "Heap unused");
    }
    return facts;
}

std::unique_ptr<TextTerms> DumpFile::terms(std::string_view pid, std::shared_ptr<const SharedTerms> shared) const {
    ProcessTextReader reader(dialect());
    reader.begin(facts(pid));
    for (const DumpSection& s : sections_) {
        TermSection section{};
        if (s.id == pid && section_of(s.tag, section)) reader.feed(section, s.body, true);
    }
    return std::make_unique<TextTerms>(reader.finish(), std::move(shared), dialect());
}

}  // namespace test
