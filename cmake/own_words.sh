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
# Left as it is where nothing changed, so that nothing is built again.
if cmp -s "$out.new" "$out"; then rm "$out.new"; else mv "$out.new" "$out"; fi
