#include "data/read/columns/column_names.h"

#include <algorithm>
#include <vector>

namespace edict {
namespace {

using Names = std::span<const std::string_view>;

constexpr std::string_view kIdNames[] = {
    "id",          "patient",     "patientid",     "pid",         "patnr",     "patientennummer",
    "subject",     "subjectid",   "usubjid",       "subjid",      "stayid",    "icustayid",
    "hadmid",      "caseid",      "fall",          "fallid",      "fallnr",    "fallnummer",
    "series",      "seriesid",    "record",        "recordid",    "recordnr",  "encounter",
    "encounterid", "participant", "participantid", "studyid",     "personid",  "unitid",
    "unitnumber",  "device",      "deviceid",      "sensorid",    "machine",   "machineid",
    "engineid",    "station",     "stationid",     "stationname", "siteid",    "locationid",
    "host",        "hostname",    "meter",         "meterid",     "vehicleid", "userid"};
constexpr std::string_view kTimeNames[] = {"time",
                                           "t",
                                           "zeit",
                                           "zeitpunkt",
                                           "zeitstempel",
                                           "datetime",
                                           "timestamp",
                                           "devicetimestamp",
                                           "gerätezeitstempel",
                                           "charttime",
                                           "ts",
                                           "date",
                                           "datum",
                                           "dateandtime",
                                           "datumuhrzeit",
                                           "datumzeit",
                                           "dateheure",
                                           "localtime",
                                           "utc",
                                           "timeutc",
                                           "dateutc",
                                           "datetimeutc",
                                           "hour",
                                           "hours",
                                           "stunde",
                                           "stunden",
                                           "day",
                                           "days",
                                           "tag",
                                           "tage",
                                           "minute",
                                           "minutes",
                                           "minuten",
                                           "second",
                                           "seconds",
                                           "sekunden",
                                           "observedat",
                                           "measuredat",
                                           "recordedat",
                                           "createdat",
                                           "lastchanged",
                                           "lastupdated",
                                           "eventtime",
                                           "times",
                                           "timeh",
                                           "timemin",
                                           "effectivedatetime",
                                           "visitdate",
                                           "samplingtime",
                                           "sampletime",
                                           "readingtime",
                                           "measurementdatetime",
                                           "measurementdate",
                                           "observationdatetime",
                                           "observationdate",
                                           "labresultoffset",
                                           "observationoffset",
                                           "dtc",
                                           "adtm",
                                           "adt"};
constexpr std::string_view kPeriodNames[] = {"year",   "jahr",    "month",   "monat",
                                             "week",   "woche",   "quarter", "quartal",
                                             "period", "periode", "année",   "mois"};
constexpr std::string_view kClockNames[] = {
    "time", "uhrzeit", "zeit",  "clock",     "timeofday", "tageszeit", "heure", "hora",
    "ora",  "hour",    "hours", "stunde",    "hr",        "hh",        "tijd",  "von",
    "from", "beginn",  "start", "starttime", "startzeit", "begin"};
constexpr std::string_view kVariableNames[] = {"field",
                                               "entityid",
                                               "feature",
                                               "variable",
                                               "parameter",
                                               "item",
                                               "itemid",
                                               "analyte",
                                               "analyt",
                                               "measurement",
                                               "signal",
                                               "channel",
                                               "metric",
                                               "tag",
                                               "tagname",
                                               "pollutant",
                                               "indicator",
                                               "variablename",
                                               "parametername",
                                               "test",
                                               "testname",
                                               "quantity",
                                               "pointname",
                                               "measurementconceptname",
                                               "measurementconceptid",
                                               "observationconceptid",
                                               "conceptname",
                                               "conceptid",
                                               "testcd",
                                               "paramcd",
                                               "param",
                                               "labname",
                                               "loinc",
                                               "loinccode"};
constexpr std::string_view kValueNames[] = {
    "valuenum", "valueasnumber", "stresn", "aval",     "labresult", "value",    "wert",
    "val",      "numericvalue",  "result", "ergebnis", "state",     "messwert", "reading"};
constexpr std::string_view kUnitNames[] = {
    "unit",   "units",           "einheit",         "uom",          "valueuom", "resultunit",
    "stresu", "unitsourcevalue", "unitconceptname", "unitconceptid"};

bool is_any(std::string_view name, Names names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}
bool is_any(std::string_view name, std::initializer_list<std::string_view> names) {
  return is_any(name, Names(names.begin(), names.size()));
}

bool holds_any(const std::string& text, std::initializer_list<std::string_view> parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [&](std::string_view part) { return text.find(part) != std::string::npos; });
}

}  // namespace

Names usual_names(ColumnRole role) {
  switch (role) {
    case ColumnRole::id:
      return kIdNames;
    case ColumnRole::time:
      return kTimeNames;
    case ColumnRole::period:
      return kPeriodNames;
    case ColumnRole::clock:
      return kClockNames;
    case ColumnRole::variable:
      return kVariableNames;
    case ColumnRole::value:
      return kValueNames;
    case ColumnRole::unit:
      break;
  }
  return kUnitNames;
}

bool has_usual_name(std::string_view name, ColumnRole role) {
  return is_any(squeezed(name), usual_names(role));
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

std::string squeezed(std::string_view name) {
  for (const auto& [open, close] : {std::pair('(', ')'), std::pair('[', ']')})
    if (const std::size_t begin = name.find(open);
        begin != std::string_view::npos && begin > 0 && name.ends_with(close))
      name = name.substr(0, begin);
  std::string result;
  for (const char c : name)
    if (std::string_view(" _-.#/").find(c) == std::string_view::npos) result += c;
  result = lower(result);
  // CDISC begins a name with the two letters of its domain: LBTESTCD, VSDTC.
  constexpr std::size_t kDomain = 2;
  if (result.size() > kDomain &&
      is_any(std::string_view(result).substr(kDomain), {"testcd", "stresn", "stresu", "dtc"}))
    result.erase(0, kDomain);
  return result;
}

bool names_items(std::string_view name) {
  return is_any(squeezed(name), {"itemid", "itemcode", "variableid", "parameterid", "conceptid",
                                 "measurementconceptid", "observationconceptid", "loinc",
                                 "loinccode", "unitconceptid"});
}

bool names_id(std::string_view name) {
  for (const std::string_view end : {"_id", " id", "Id", "ID", "_nr", " nr", "Nr", "_no", " no"})
    if (name.ends_with(end)) return true;
  return holds_any(squeezed(name), {"patient", "subject", "series", "case", "fall", "station",
                                    "sensor", "device", "number", "nummer", "code", "animal",
                                    "machine", "group", "site", "vehicle", "participant"});
}

bool names_values(std::string_view name) { return has_usual_name(name, ColumnRole::value); }

bool names_time(std::string_view name) {
  return holds_any(squeezed(name), {"date", "datum", "zeit", "time", "stamp", "period", "month",
                                    "monat", "week", "woche", "quart", "year", "jahr"});
}

bool names_clock_surely(std::string_view name) {
  return is_any(squeezed(name), {"time", "uhrzeit", "clock", "timeofday", "tageszeit"});
}

bool names_start(std::string_view name) {
  const std::string text = squeezed(name);
  return text.starts_with("von") || text.ends_with("von") ||
         holds_any(text, {"start", "begin", "from", "onset"});
}

bool names_duration(std::string_view name) {
  return holds_any(squeezed(name), {"dura", "dauer", "elapsed", "length", "länge", "laufzeit"});
}

bool names_birth(std::string_view name) {
  const std::string text = squeezed(name);
  if (holds_any(text, {"birth", "geburt", "geboren", "naissance", "nacimiento"})) return true;
  return text == "dob" || text == "gebdatum" || text == "anchoryear";
}

bool names_rows(std::string_view name, bool is_first) {
  if (name.starts_with("Unnamed: ")) return true;
  if (is_any(squeezed(name), {"record", "recordnr", "recnum", "recno"})) return true;
  return is_first && is_any(squeezed(name), {"index", "row", "rowid", "rownum", "rownumber",
                                             "rowindex", "no", "nr", "lfdnr", "number", "n", "x1"});
}

TimeUnit unit_in_name(std::string_view name) {
  std::vector<std::string> words{""};
  for (const char c : lower(name)) {
    if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
      words.back() += c;
    else if (!words.back().empty())
      words.emplace_back();
  }
  if (words.back().empty()) words.pop_back();
  if (words.empty()) return TimeUnit::none;
  const std::string& last = words.back();
  if (is_any(last, {"s", "sec", "secs", "second", "seconds", "sekunde", "sekunden"}))
    return TimeUnit::second;
  if (is_any(last, {"min", "mins", "minute", "minutes", "minuten"})) return TimeUnit::minute;
  if (is_any(last, {"h", "hr", "hrs", "hour", "hours", "stunde", "stunden", "std"}))
    return TimeUnit::hour;
  if (is_any(last, {"d", "day", "days", "tag", "tage"})) return TimeUnit::day;
  return TimeUnit::none;
}

}  // namespace edict
