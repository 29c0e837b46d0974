#!/bin/sh
# own_words.sh OUT SOURCE...: the words of all string literals, as a sorted C++ array.
set -eu
out=$1; shift
{
    echo '// Made by cmake/own_words.sh.'
    grep -hoE '"([^"\\]|\\.)*"' "$@" | grep -oE '[A-Za-z]{2,}' | LC_ALL=C sort -u >"$out.words"
    echo "constexpr std::array<std::string_view, $(wc -l <"$out.words")> own_words{"
    sed 's/.*/    "&",/' "$out.words"
    echo '};'
} >"$out.new"
rm "$out.words"
mv "$out.new" "$out"
