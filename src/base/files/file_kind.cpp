#include "base/files/file_kind.h"

#include <algorithm>
#include <cctype>
#include <string>

namespace edict {
namespace {

using namespace std::literals;

constexpr std::string_view kFrame =
    "export it as CSV, or read it in Python and use edict.Dataset.from_frame";
constexpr std::string_view kArchive = "unpack it and give the table inside";
constexpr std::string_view kDocument = "give the table as CSV";
constexpr std::string_view kDump = "load it into its database and export the table as CSV";

struct Signature {
  std::size_t at;
  std::string_view bytes, what, instead = kFrame;
};
constexpr Signature kSignatures[] = {
    {0, "PAR1"sv, "a Parquet file"},
    {0, "ARROW1\0\0"sv, "an Arrow (Feather) file"},
    {0, "\xff\xff\xff\xff\x10\0\0\0"sv, "an Arrow stream"},
    {0, "ORC"sv, "an ORC file"},
    {0, "Obj\x01"sv, "an Avro file"},
    {0, "SQLite format 3\0"sv, "an SQLite database"},
    {0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file"},
    {0, "CDF\x01"sv, "a NetCDF file"},
    {0, "CDF\x02"sv, "a NetCDF file"},
    {0, "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"sv, "an Excel workbook (.xls)"},
    {0, "%PDF-"sv, "a PDF document", kDocument},
    {0, "PGDMP"sv, "a dump of a PostgreSQL database", kDump},
    {0, "\x93NUMPY"sv, "a NumPy array"},
    {0, "MATLAB 5.0"sv, "a MATLAB file"},
    {0, "$FL2"sv, "an SPSS file"},
    {0, "$FL3"sv, "an SPSS file"},
    {0, "<stata_dta>"sv, "a Stata file"},
    {0, "RDX2\n"sv, "an R data file"},
    {0, "RDX3\n"sv, "an R data file"},
    {0, "X\n\0\0\0"sv, "an R data file"},
    {0, "\x89PNG\r\n\x1a\n"sv, "a PNG image", kDocument},
    {0, "\xff\xd8\xff"sv, "a JPEG image", kDocument},
    {0,
     "\x7f"
     "ELF"sv,
     "a program", kDocument},
    {0, "BZh"sv, "a bzip2 archive", kArchive},
    {0,
     "\xfd"
     "7zXZ\0"sv,
     "an xz archive", kArchive},
    {0, "7z\xbc\xaf\x27\x1c"sv, "a 7-Zip archive", kArchive},
    {0, "Rar!\x1a\x07"sv, "a RAR archive", kArchive},
    {257, "ustar"sv, "a tar archive", kArchive},
    {8, "{\"__metadata__\""sv, "a model", "the model comes first and the data second"},
    {0, "\x80\x04\x95"sv, "a Python pickle"},
    {0, "\x80\x05\x95"sv, "a Python pickle"},
};

bool holds(std::string_view bytes, std::string_view part) {
  return bytes.find(part) != std::string_view::npos;
}

// A workbook is a ZIP archive whose members have names of its own.
ForeignFile kind_of_zip(std::string_view bytes) {
  const std::string_view begin = bytes.substr(0, 8192);
  if (holds(begin, "xl/") || (holds(begin, "[Content_Types].xml") && holds(bytes, "xl/workbook")))
    return {"an Excel workbook (.xlsx)", kFrame};
  if (holds(begin, "opendocument.spreadsheet")) return {"a LibreOffice spreadsheet (.ods)", kFrame};
  if (holds(begin, ".npy")) return {"a NumPy archive (.npz)", kFrame};
  return {"a ZIP archive", kArchive};
}

std::string upper(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return result;
}

// A line of SQL at the beginning of one of the first lines.
bool is_sql(std::string_view bytes) {
  if (bytes.starts_with("-- MySQL dump") || bytes.starts_with("-- MariaDB dump") ||
      bytes.starts_with("--\n-- PostgreSQL database dump") || bytes.starts_with("-- phpMyAdmin") ||
      bytes.starts_with("/*!40"))
    return true;
  std::string_view rest = bytes.substr(0, 8192);
  for (int line = 0; line < 40 && !rest.empty(); ++line) {
    const std::string text = upper(rest.substr(0, 20));
    for (const std::string_view begin :
         {"CREATE TABLE "sv, "INSERT INTO "sv, "DROP TABLE "sv, "BEGIN TRANSACTION;"sv,
          "PRAGMA FOREIGN_KEYS"sv, "SET SQL_MODE"sv})
      if (text.starts_with(begin)) return true;
    const std::size_t end = rest.find('\n');
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
  }
  return false;
}

}  // namespace

std::optional<ForeignFile> foreign_file(std::string_view bytes) {
  for (const Signature& s : kSignatures)
    if (bytes.size() > s.at && bytes.substr(s.at).starts_with(s.bytes))
      return ForeignFile{s.what, s.instead};
  if (bytes.starts_with("PK\x03\x04")) return kind_of_zip(bytes);
  if (bytes.starts_with("\xef\xbb\xbf")) bytes.remove_prefix(3);
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return std::nullopt;
  bytes.remove_prefix(first);
  if (bytes.front() == '{' || (bytes.starts_with('[') && bytes.size() > 1 &&
                               holds("[{\"]0123456789- \r\n\t", bytes.substr(1, 1))))
    return ForeignFile{"JSON", kFrame};
  const std::string begin = upper(bytes.substr(0, 16));
  if (begin.starts_with("<!DOCTYPE HTML") || begin.starts_with("<HTML"))
    return ForeignFile{"an HTML page", kDocument};
  if (begin.starts_with("<?XML")) return ForeignFile{"XML", kDocument};
  if (is_sql(bytes)) return ForeignFile{"an SQL dump", kDump};
  return std::nullopt;
}

bool looks_like_table(std::string_view bytes) {
  const std::string_view line = bytes.substr(0, std::min<std::size_t>(bytes.find('\n'), 65536));
  return line.size() < bytes.size() && line.find_first_of(",;\t|") != std::string_view::npos &&
         std::none_of(line.begin(), line.end(), [](char c) {
           return static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\r';
         });
}

}  // namespace edict
