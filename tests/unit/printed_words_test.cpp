// SPDX-License-Identifier: Apache-2.0
#include "erlang/printed_words.hpp"

#include <catch2/catch.hpp>
#include <string>

using beamheap::erlang::printed_words;

TEST_CASE("how large a printed term is on a heap", "[terms][printed-words]") {
    const auto words = [](std::string_view text) { return printed_words(text, 8); };
    CHECK(words("tick") == 0);
    CHECK(words("-12") == 0);
    CHECK(words("<0.1.0>") == 0);
    CHECK(words("{}") == 1);
    CHECK(words("[]") == 0);
    CHECK(words("{tick,1}") == 3);
    CHECK(words("{'a, b',{x}}") == 3 + 2);
    CHECK(words("[1,2,3]") == 6);
    CHECK(words("\"abc\"") == 6);
    CHECK(words("#{a=>1,b=>2}") == 3 + 4);
    CHECK(words("{timeout,#Ref<0.1.2.3>,tick}") == 4 + 4);
    CHECK(words("<<1,2,3,4,5,6,7,8>>") == 3 + 1);
    CHECK(words("{1.5,123456789012345678901}") == 3 + 3 + 3);
    CHECK(words("#Fun<m.1.2>") == 3);
}

TEST_CASE("what was cut of a printed term is left out", "[terms][printed-words]") {
    for (const std::string_view whole :
         {"{tick,[1,2],#Ref<0.1.2.3>,<<\"abc\">>,#{a=>\"b\"}}", "<<", "#", "'", "\"\\", "{[#{"})
        for (std::size_t i = 0; i <= whole.size(); ++i) CHECK(printed_words(whole.substr(0, i), 8) <= 40);
    CHECK(printed_words("}]{a", 4) == 2);
    CHECK(printed_words("<<1,2>>", 0) == 3);
}
