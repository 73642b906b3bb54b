// Tables, and the dates in them.
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <map>

#include "base/files/file_kind.h"
#include "base/text/utf8.h"
#include "data/fingerprint.h"
#include "data/read/csv/csv.h"
#include "data/subset.h"
#include "data/time/time_axis.h"
#include "fuzz/promise.h"
#include "messy_files.h"

namespace edict::fuzz {
namespace {

ReadOptions strict() {
  ReadOptions options;
  options.limits.bytes = 1 << 20;
  options.limits.columns = 256;
  return options;
}

// A table is valid in every array, or refused; and it is the same a second time.
void csv(std::string_view bytes) {
  attempt("f.csv:", [&] {
    const Dataset data = read_csv_text(bytes, "f.csv", strict());
    data.check();
    for (std::size_t e = 0; e < data.events(); ++e)
      promise(!data.observed(e).empty(), "something was observed at every event");
    promise(fingerprint(data) == fingerprint(read_csv_text(bytes, "f.csv", strict())),
            "a table is read the same way twice");
  });
}

std::string gzipped(std::string_view text) {
  z_stream z{};
  promise(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK, "zlib begins");
  std::string packed(deflateBound(&z, text.size()), '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(packed.data());
  z.avail_out = static_cast<uInt>(packed.size());
  promise(deflate(&z, Z_FINISH) == Z_STREAM_END, "zlib ends");
  packed.resize(z.total_out);
  deflateEnd(&z);
  return packed;
}

std::string zstandard(std::string_view text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), 1));
  return packed;
}

// With a byte-order mark. The text is UTF-8.
std::string utf16(std::string_view text, bool big_endian) {
  std::string result;
  const auto put = [&](unsigned unit) {
    const char high = static_cast<char>(unit >> 8), low = static_cast<char>(unit & 255);
    result += big_endian ? high : low;
    result += big_endian ? low : high;
  };
  put(0xfeff);
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<unsigned char>(text[i]);
    const int more = first < 0x80 ? 0 : first < 0xe0 ? 1 : first < 0xf0 ? 2 : 3;
    unsigned code = more == 0 ? first : first & (0x3fu >> more);
    for (int k = 1; k <= more; ++k)
      code = code << 6 | (static_cast<unsigned char>(text[i + static_cast<std::size_t>(k)]) & 63u);
    i += static_cast<std::size_t>(more) + 1;
    if (code < 0x10000) {
      put(code);
    } else {
      put(0xd800 + ((code - 0x10000) >> 10));
      put(0xdc00 + ((code - 0x10000) & 1023));
    }
  }
  return result;
}

// By way of files, in parts of a few rows: each part is those series of the whole.
void by_id(std::string_view bytes, const Dataset* whole) {
  const std::filesystem::path path = written(bytes);
  std::map<std::string, std::size_t> places;
  if (whole)
    for (std::size_t i = 0; i < whole->size(); ++i) places[whole->ids[i]] = i;
  std::size_t series = 0;
  const bool read = attempt(path.string(), [&] {
    read_csv_by_id(path, strict(), 4096, path.parent_path(), [&](const Dataset& part) {
      part.check();
      if (!whole) return;
      std::vector<std::size_t> same;
      for (const std::string& id : part.ids) {
        promise(places.contains(id), "a series in parts is one of the whole");
        same.push_back(places[id]);
      }
      series += part.size();
      promise(fingerprint(part) == fingerprint(subset(*whole, same)),
              "a table in parts is the table");
    });
  });
  promise(read == (whole != nullptr), "a table is refused in parts where it is refused whole");
  promise(!whole || series == whole->size(), "every series is in a part");
}

// One table has many forms: compressed, in another encoding, in parts, written again. The length
// says which one is tried.
void csv_forms(std::string_view bytes) {
  std::optional<Dataset> whole;
  attempt("f.csv:", [&] { whole = read_csv_text(bytes, "f.csv", strict()); });
  const auto same = [&](const std::string& other) {
    std::optional<Dataset> read;
    attempt("f.csv:", [&] { read = read_csv_text(other, "f.csv", strict()); });
    promise(read.has_value() == whole.has_value() &&
                (!read || fingerprint(*read) == fingerprint(*whole)),
            "a table in another form is the same table");
  };
  const bool packed = bytes.starts_with("\x1f\x8b") || bytes.starts_with("\x28\xb5\x2f\xfd");
  switch (bytes.size() % 5) {
    case 0:
      if (!packed) same(gzipped(bytes));
      break;
    case 1:
      if (!packed) same(zstandard(bytes));
      break;
    case 2:
      // What is no table by its first bytes does not begin with them in UTF-16.
      if (!packed && !foreign_file(bytes) && valid_utf8(bytes))
        same(utf16(bytes, bytes.size() % 2 == 0));
      break;
    case 3:
      by_id(bytes, whole ? &*whole : nullptr);
      break;
    default:
      if (!whole) break;
      const std::filesystem::path path = written("");
      attempt(path.string(), [&] {
        write_csv(*whole, path);
        // Rows without a value are not written. Where one of them alone had a time that is no Unix
        // time, the others would be taken for it; and where codes for "missing" were taken out,
        // others may stand out of what is left, and dates may span less.
        ReadOptions options = strict();
        options.missing = {"none"};
        options.time_unit =
            whole->time_axis.is_calendar() ? name_of(whole->time_axis.unit) : "none";
        std::optional<Dataset> read;
        promise(attempt(path.string(), [&] { read = read_csv(path, options); }),
                "what is written is read");
        promise(fingerprint(*read) == fingerprint(*whole), "what is written is what was read");
      });
  }
}

// A date that is read is written so that it is the same moment again.
void date(std::string_view bytes) {
  const auto read = parse_date(bytes);
  if (!read) return;
  promise(std::isfinite(read->microseconds), "a date is a moment");
  const std::string text = written_date(read->microseconds, read->zone, read->style);
  const auto again = parse_date(text);
  promise(again && again->microseconds == read->microseconds && again->zone == read->zone,
          "a date is the same when it is read again");
}

std::vector<std::string> plain_tables() {
  std::vector<std::string> result = {
      "id,time,x,y,label,static:age\na,0,1.5,,u,3\na,1,,-2e5,u,\n\"b,\"\"\",0,7,8,v,4\n",
      "id,time,feature,value,group\na,0,x,1,g\na,0,y,2,g\nb,1,x,3.25,h\n"};
  for (const MessyFile& file : {messy::zones(), messy::semicolons(), messy::latin1(),
                                messy::categories(), messy::unix_time(), messy::days()})
    result.push_back(file.bytes.substr(0, 600));
  for (const char* table :
       {"id,time,x\na,0,5.2 mmol/L\na,1,<0.1\na,2,\"1,234.5\"\na,3,97 %\nb,0,unavailable\n",
        "Datum;Uhrzeit;x\n01.03.2024;08:30;1.234,5\n02.03.2024;9:05 PM;2 345,5\n",
        "# made by\nid,time,x\na,9/29/1997 2:05 PM,-999\na,10/1/1997 2:05 AM,1\nb,1/2/1997,3\nb,"
        "1/3/1997,4\n",
        "entity_id,state,last_changed,note\ns.a,21.5,2024-03-01T12:00:00Z,\ns.b,off,2024-03-01T13:"
        "00:00Z,u\n",
        "Unnamed: 0,day,x,y\n0,20240301,1,\n1,20240302,-9999,\n2,20240303,4,\n3,20240304,5,\n",
        "Made,by\nrecord_id,date,x\nn,yyyy,%\n1,1-Mar-2024,1\n1,2-Mar-2024,2\n"})
    result.emplace_back(table);
  return result;
}

std::vector<std::string> tables() {
  std::vector<std::string> result = plain_tables();
  const std::string plain = result.front();
  for (const std::string& form :
       {gzipped(plain), zstandard(plain), utf16(plain, false), utf16(plain, true)})
    result.push_back(form);
  return result;
}

std::vector<std::string> dates() {
  return {"2024-03-01",          "2024-03-01 12:30",        "2024-03-01T12:30:15.123+01:00",
          "01.03.2024 08:30",    "2024/03/01T00:00:00Z",    "1999-12-31 23:59:59.999999 UTC",
          "2024-02-29T24:00+05", "1685-01-01 00:00 -11:30", "2255-12-31T23:59:59+1400",
          "9/29/1997 2:05 PM",   "3/13/2024, 12:05:00 am",  "1-Mar-2024 12:30",
          "Mar 1, 2024",         "13.3.24 08:30:15.5",      "13-03-2024 02:05 PM +01:00"};
}

}  // namespace

std::vector<Target> table_targets() {
  return {{"csv", csv, tables}, {"csv_forms", csv_forms, plain_tables}, {"date", date, dates}};
}

}  // namespace edict::fuzz
