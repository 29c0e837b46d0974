// SPDX-License-Identifier: Apache-2.0
// CSV and TSV: the primary table, one header line, numbers bare, missing values empty.
#include "present/sanitise.hpp"
#include "present/view.hpp"

namespace beamheap::present {
namespace {

void write_table(const View& view, Sink& sink, char separator, void (*append)(std::string_view, std::string&)) {
    const TableView* table = view.primary();
    if (table == nullptr) return;
    for (std::size_t c = 0; c < table->columns(); ++c) {
        if (c != 0) sink.put(separator);
        append(table->column(c).name, sink.buffer());
    }
    sink.put('\n');
    for (std::size_t row = 0; row < table->rows() && !sink.closed(); ++row) {
        for (std::size_t c = 0; c < table->columns(); ++c) {
            if (c != 0) sink.put(separator);
            const Value value = table->cell(row, c);
            const std::string text = machine_text(view, value, table->column(c).content, table->key_of(row, c));
            const bool number = !value.is_null() && value.data().index() >= 1 && value.data().index() <= 4;
            number ? static_cast<void>(sink.buffer().append(text)) : append(text, sink.buffer());
        }
        sink.put('\n');
        sink.settle();
    }
}

}  // namespace

static void present_csv(const View& view, Sink& sink) { write_table(view, sink, ',', &append_csv); }
static void present_tsv(const View& view, Sink& sink) { write_table(view, sink, '\t', &append_tsv); }

BH_DEFINE_FORMAT(csv){
    .name = "csv",
    .doc = "the main table as comma-separated values",
    .present = &present_csv,
};

BH_DEFINE_FORMAT(tsv){
    .name = "tsv",
    .doc = "the main table as tab-separated values",
    .present = &present_tsv,
};

}  // namespace beamheap::present
