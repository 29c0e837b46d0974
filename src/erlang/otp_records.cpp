// SPDX-License-Identifier: Apache-2.0
#include "erlang/otp_records.hpp"

#include <algorithm>
#include <iterator>
#include <string>

namespace beamheap::erlang {
namespace {

struct OtpRecordRow {
    std::string_view scope;  ///< module or family
    std::string_view name;
    std::string_view fields;  ///< with blanks between them
};
constexpr OtpRecordRow otp_record_rows[] = {
#define BH_RECORD(scope, name, fields) {scope, name, fields},
#include "erlang/otp_records.inc"
#undef BH_RECORD
};
static_assert(std::ranges::is_sorted(otp_record_rows, {}, &OtpRecordRow::scope));

// Modules that share a header: those whose names begin so.
struct RecordFamily {
    std::string_view begin, scope;
};
constexpr RecordFamily record_families[] = {
    {"ssl_", "ssl"},    {"tls_", "ssl"},    {"dtls_", "ssl"},         {"mnesia", "mnesia"},
    {"httpc", "inets"}, {"httpd", "inets"}, {"mod_", "inets"},        {"http_", "inets"},
    {"ssh", "ssh"},     {"dets", "dets"},   {"disk_log", "disk_log"},
};

void add_rows(std::string_view scope, std::vector<RecordType>& records) {
    const OtpRecordRow* const end = std::end(otp_record_rows);
    for (const OtpRecordRow* at = std::ranges::lower_bound(otp_record_rows, scope, {}, &OtpRecordRow::scope);
         at != end && at->scope == scope; ++at) {
        const OtpRecordRow& row = *at;
        RecordType record;
        record.name = row.name;
        std::string_view rest = row.fields;
        while (!rest.empty()) {
            const std::size_t end = std::min(rest.find(' '), rest.size());
            record.fields.emplace_back(rest.substr(0, end));
            rest.remove_prefix(std::min(end + 1, rest.size()));
        }
        records.push_back(std::move(record));
    }
}

}  // namespace

std::vector<RecordType> otp_records(std::string_view module) {
    std::vector<RecordType> records;
    add_rows(module, records);
    for (const RecordFamily& family : record_families)
        if (module.starts_with(family.begin) && family.scope != module) {
            add_rows(family.scope, records);
            break;
        }
    return records;
}

}  // namespace beamheap::erlang
