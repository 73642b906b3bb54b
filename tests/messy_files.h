// Tables as people have them, each unusual in its own way and none of them wrong: what exports of
// hospitals, sensors and spreadsheets look like. The same on every call.
#pragma once

#include <fmt/core.h>

#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "data/time/time_axis.h"

namespace edict {

struct MessyFile {
  std::string name, bytes;
  std::string options;  // that reading it needs, as on the command line
};

namespace messy {

inline constexpr int kSeries = 24, kEvents = 8;

// Plausible, different for each series and event, and the same always.
inline double value(int series, int event, int feature) {
  return 80 + 10 * std::sin(0.7 * series + 0.5 * event + feature) + feature;
}
inline std::string number(double v, char point = '.') {
  std::string text = fmt::format("{:.1f}", v);
  text[text.find('.')] = point;
  return text;
}
inline std::string date(int series, double hours, const std::string& like) {
  const ParsedDate style = parse_date(like).value();
  return written_date(style.microseconds + 3600e6 * (24 * series + hours), style.zone, style.style);
}
inline std::string rows(const std::string& header,
                        const std::function<std::string(int series, int event)>& row) {
  std::string text = header + "\n";
  for (int s = 0; s < kSeries; ++s)
    for (int e = 0; e < kEvents; ++e) text += row(s, e) + "\n";
  return text;
}

inline MessyFile zones() {
  return {"zones.csv",
          rows("subject_id,charttime,heart_rate,temp",
               [](int s, int e) {
                 return fmt::format(
                     "p{},{},{},{}", s,
                     date(s, 2.5 * e, s % 2 ? "2024-03-01T08:00+01:00" : "2024-03-01T08:00+02:00"),
                     number(value(s, e, 0)), e % 3 == 1 ? "NA" : number(value(s, e, 1)));
               }),
          ""};
}
// The same patients, one of them without an id.
inline MessyFile one_patient() {
  std::string text = "charttime,heart_rate,temp\n";
  for (int e = 0; e < kEvents; ++e)
    text += fmt::format("{},{},\n", date(40, 2.5 * e, "2024-03-01T08:00+01:00"),
                        number(value(40, e, 0)));
  return {"one.csv", text, "--id none"};
}
inline MessyFile semicolons() {
  return {"export.csv",
          rows("patient;zeit;puls;laktat;geschlecht",
               [](int s, int e) {
                 return fmt::format(
                     "{};{};{};{};{}", 1000 + s, date(s, 1.5 * e, "01.03.2024 08:30"),
                     e % 4 == 2 ? "NA" : number(value(s, e, 0), ','),
                     e % 2 ? "" : number(value(s, e, 1) / 40, ','), s % 3 ? "m" : "w");
               }),
          "--static geschlecht"};
}
inline MessyFile latin1() {
  return {"latin1.tsv",
          rows("Fallnummer\tStunden\tGr\xf6\xdf"
               "e\tBefund",
               [](int s, int e) {
                 return fmt::format("M\xfcller {}\t{}\t{}\t{}", s, number(0.5 * e, ','),
                                    number(value(s, e, 0), ','),
                                    s % 2 ? "unauff\xe4llig" : "m\xe4\xdfig");
               }),
          "--label Befund"};
}
inline MessyFile categories() {
  const char* const rhythms[] = {"sinus", "AF", "paced"};
  return {"categories.csv",
          rows("id,time,rhythm,ventilated,hr,sex,ward",
               [&](int s, int e) {
                 return fmt::format("c{},{},{},{},{},{},{}", s, e,
                                    e % 4 == 3 ? "?" : rhythms[(s + e) % 3],
                                    (s + e) % 2 ? "yes" : "no", number(value(s, e, 0)),
                                    s % 5 == 0 ? "" : (s % 2 ? "f" : "m"), 3 + s % 2);
               }),
          "--static sex,ward --category ward"};
}
inline MessyFile duplicates() {
  std::string text = "id,time,a,b\n";
  for (int e = kEvents; e-- > 0;)  // rows are in no order
    for (int s = 0; s < kSeries; ++s) {
      text += fmt::format("d{},{},{},\n", s, e, number(value(s, e, 0)));
      text += fmt::format("d{},{},,{}\n", s, e, number(value(s, e, 1)));
      if (e == 3) text += fmt::format("d{},{},{},\n", s, e, number(value(s, e, 0) + 2));
    }
  return {"duplicates.csv", text, "--duplicates mean"};
}
inline MessyFile unix_time() {
  return {"unix.csv",
          rows("device|ts|temperature|humidity",
               [](int s, int e) {
                 return fmt::format("sensor {}|{}|{}|{}", s, 1709280000 + 3600 * s + 120 * e,
                                    number(value(s, e, 0)),
                                    e % 2 ? "null" : number(value(s, e, 1)));
               }),
          ""};
}
inline MessyFile days() {
  return {"days.csv",
          rows("\"patient\",\"visit date\",\"weight\",\"comment\"",
               [](int s, int e) {
                 return fmt::format("\"V{:03}\",\"{}\",\"{}\",\"said \"\"{}\"\", then left\"", s,
                                    date(s, 24.0 * 21 * e, "2021-05-01"),
                                    e == 4 ? "-" : number(value(s, e, 0)), 100 * s + e);
               }),
          ""};
}
inline MessyFile many_features() {
  std::string header = "id,t";
  for (int f = 0; f < 200; ++f) header += fmt::format(",f{}", f);
  return {"wide.csv",
          rows(header,
               [](int s, int e) {
                 std::string row = fmt::format("w{},{}", s, e);
                 for (int f = 0; f < 200; ++f)
                   row += (s + e + f) % 3 ? std::string(",NaN") : "," + number(value(s, e, f % 7));
                 return row;
               }),
          ""};
}
// As pandas writes it with its index, and with columns that never change.
inline MessyFile constants() {
  int index = 0;
  return {"constants.csv",
          rows(",pid,hours,hr,age,died,site",
               [&](int s, int e) {
                 return fmt::format("{},{},{},{},{},{},1", index++, s, 0.5 * e,
                                    number(value(s, e, 0)), 40 + s, s % 4 == 0 ? "True" : "False");
               }),
          "--label died --static age"};
}

}  // namespace messy

inline std::vector<MessyFile> messy_files() {
  return {messy::zones(),         messy::one_patient(), messy::semicolons(), messy::latin1(),
          messy::categories(),    messy::duplicates(),  messy::unix_time(),  messy::days(),
          messy::many_features(), messy::constants()};
}

}  // namespace edict
