// A declared setting, by itself: what may be written, what is refused in which words, and that
// every way of writing it down reads back.
#include "settings/settings.h"

#include <gtest/gtest.h>

#include <functional>

#include "base/error.h"
#include "base/json/json.h"
#include "temporary_folder.h"

namespace edict::settings {
namespace {

const Own kGlow{"lamp.glow", "how warm it is", Key::Kind::number, 0.5, 0.0, 1.0};
const Own kFade{
    "lamp.fade", "how long it takes", Key::Kind::number, std::string(kAuto), 0.0, 10.0, {}, true};
const Own kBulbs{"lamp.bulbs", "how many", Key::Kind::whole, std::int64_t{2}, 1, 8};
const Own kDimmed{"lamp.dimmed", "whether it is", Key::Kind::flag, false};
const Own kShade{"lamp.shade",      "made of what", Key::Kind::text, std::string("paper"), 0, 0,
                 {"paper", "glass"}};

// One setting of each type, of its own variable and kept by name.
struct House {
  double width = 2.5;
  std::optional<double> height;
  std::int64_t rooms = 3;
  bool cellar = true;
  std::string roof = "tiles";
  Values values;

  Keys keys() {
    return {{number("house.width", "in metres", width, 0.5, 100),
             number_or_auto("house.height", "in metres", height, -5, 50),
             whole("house.rooms", "without the bath", rooms, 1, 99),
             flag("house.cellar", "whether there is one", cellar),
             text("house.roof", "what it is made of", roof, {"tiles", "reed"}), key(kGlow, values),
             key(kFade, values), key(kBulbs, values), key(kDimmed, values), key(kShade, values)}};
  }
};

std::string refusal(const std::function<void(House&, const Keys&)>& action) {
  House house;
  try {
    action(house, house.keys());
  } catch (const Error& error) {
    return error.message(command_line_option);
  }
  return "accepted";
}
std::string refusal_of_set(const std::string& assignment) {
  return refusal([&](House&, const Keys& keys) { assign(keys, assignment); });
}
std::string refusal_of_toml(const std::string& toml) {
  return refusal([&](House&, const Keys& keys) { read_toml_text(toml, "f.toml", keys); });
}

// Every value differs from its default.
void furnish(const Keys& keys) {
  for (const char* one : {"house.width=0.1e1", "house.height=7", "house.rooms=12",
                          "house.cellar=false", "house.roof=reed", "lamp.glow=0.125",
                          "lamp.fade=3.5", "lamp.bulbs=8", "lamp.dimmed=true", "lamp.shade=glass"})
    assign(keys, one);
}

TEST(SetOption, ReachesEveryType) {
  House house;
  furnish(house.keys());
  EXPECT_EQ(house.width, 1.0);
  EXPECT_EQ(house.height, 7.0);  // a whole number where any number may stand
  EXPECT_EQ(house.rooms, 12);
  EXPECT_FALSE(house.cellar);
  EXPECT_EQ(house.roof, "reed");
  EXPECT_EQ(house.values.number(kGlow), 0.125);
  EXPECT_EQ(house.values.number_or_auto(kFade), 3.5);
  EXPECT_EQ(house.values.whole(kBulbs), 8);
  EXPECT_TRUE(house.values.flag(kDimmed));
  EXPECT_EQ(house.values.text(kShade), "glass");
}

TEST(SetOption, TheLastOfTheSameKeyHolds) {
  House house;
  const Keys keys = house.keys();
  assign(keys, "house.rooms=4");
  assign(keys, "house.rooms=5");
  assign(keys, "lamp.bulbs=4");
  assign(keys, "lamp.bulbs=5");
  EXPECT_EQ(house.rooms, 5);
  EXPECT_EQ(house.values.whole(kBulbs), 5);
}

TEST(SetOption, AutoTakesANumberBack) {
  House house;
  const Keys keys = house.keys();
  assign(keys, "house.height=3");
  assign(keys, "house.height=auto");
  assign(keys, "lamp.fade=3");
  assign(keys, "lamp.fade=auto");
  EXPECT_FALSE(house.height);
  EXPECT_FALSE(house.values.number_or_auto(kFade));
  // Zero is a number like any other.
  assign(keys, "house.height=0");
  EXPECT_EQ(house.height, 0.0);
}

TEST(SetOption, WithoutAnEqualsSignTheFormIsShown) {
  EXPECT_EQ(refusal_of_set("house.rooms"),
            "--set house.rooms: expected table.key=value, as in model.hidden=64");
  EXPECT_EQ(refusal_of_set(""), "--set: expected table.key=value, as in model.hidden=64");
}

TEST(SetOption, AnUnknownKeyNamesTheNearest) {
  EXPECT_EQ(refusal_of_set("house.room=3"),
            "--set: unknown key 'house.room'; did you mean 'house.rooms'?");
  EXPECT_EQ(refusal_of_set("rooms=3"), "--set: unknown key 'rooms'; did you mean 'house.rooms'?");
  EXPECT_EQ(refusal_of_set("lamp.glw=3"),
            "--set: unknown key 'lamp.glw'; did you mean "
            "'lamp.glow'?");
  // Names are as they are written, without blanks and in small letters.
  EXPECT_NE(refusal_of_set("house.rooms =3").find("did you mean 'house.rooms'?"),
            std::string::npos);
  EXPECT_NE(refusal_of_set("House.Rooms=3").find("did you mean 'house.rooms'?"), std::string::npos);
}

TEST(SetOption, ARefusalNamesKeyValueAndWhatIsAllowed) {
  EXPECT_EQ(refusal_of_set("house.width=0.4"),
            "--set: house.width = 0.4 is not allowed; it must be a number from 0.5 to 100");
  EXPECT_EQ(refusal_of_set("house.height=low"),
            "--set: house.height = low is not allowed; it must be a number from -5 to 50, or "
            "\"auto\"");
  EXPECT_EQ(refusal_of_set("house.rooms=100"),
            "--set: house.rooms = 100 is not allowed; it must be a whole number from 1 to 99");
  EXPECT_EQ(refusal_of_set("house.cellar=yes"),
            "--set: house.cellar = yes is not allowed; it must be true or false");
  EXPECT_EQ(refusal_of_set("house.roof=straw"),
            "--set: house.roof = straw is not allowed; it must be one of tiles, reed");
  EXPECT_EQ(refusal_of_set("lamp.glow=1.5"),
            "--set: lamp.glow = 1.5 is not allowed; it must be a number from 0 to 1");
  EXPECT_EQ(refusal_of_set("lamp.shade=tin"),
            "--set: lamp.shade = tin is not allowed; it must be one of paper, glass");
}

TEST(SetOption, RefusesWhatOnlyLooksLikeTheType) {
  for (const char* wrong : {"house.width=",      "house.width=wide",
                            "house.width=1,5",   "house.width=2m",
                            "house.width=true",  "house.width=nan",
                            "house.width=inf",   "house.width= 2",
                            "house.width=auto",  "house.rooms=3.0",
                            "house.rooms=3e0",   "house.rooms=0",
                            "house.rooms=true",  "house.rooms=99999999999999999999",
                            "house.cellar=1",    "house.cellar=True",
                            "house.roof=",       "house.roof=Tiles",
                            "house.height=Auto", "lamp.dimmed=0",
                            "lamp.bulbs=auto"})
    EXPECT_NE(refusal_of_set(wrong).find("is not allowed; it must be "), std::string::npos)
        << wrong << ": " << refusal_of_set(wrong);
}

TEST(SetOption, TheEndsOfARangeAreAllowed) {
  for (const char* right :
       {"house.width=0.5", "house.width=100", "house.height=-5", "house.height=50", "house.rooms=1",
        "house.rooms=99", "lamp.glow=0", "lamp.glow=1", "lamp.bulbs=8"})
    EXPECT_EQ(refusal_of_set(right), "accepted") << right;
}

TEST(SetOption, WhatIsRefusedChangesNothing) {
  House house;
  const Keys keys = house.keys();
  for (const char* wrong : {"house.width=0", "house.rooms=2.5", "house.height=x", "lamp.glow=7"})
    EXPECT_THROW(assign(keys, wrong), Error);
  EXPECT_EQ(to_json(keys), to_json(House().keys()));
}

// The text after the first equals sign is the value, whatever it holds.
TEST(SetOption, AValueMayHoldAnEqualsSign) {
  EXPECT_EQ(refusal_of_set("house.roof=a=b"),
            "--set: house.roof = a=b is not allowed; it must be one of tiles, reed");
}

TEST(TomlSettings, EveryTypeReadsBackAsItWasWritten) {
  House before, after;
  furnish(before.keys());
  read_toml_text(to_toml(before.keys()), "again", after.keys());
  EXPECT_EQ(to_json(after.keys()), to_json(before.keys()));
  EXPECT_NE(to_json(after.keys()), to_json(House().keys()));
  // And the defaults, among them "auto".
  furnish(after.keys());
  read_toml_text(to_toml(House().keys()), "defaults", after.keys());
  EXPECT_EQ(to_json(after.keys()), to_json(House().keys()));
}

TEST(TomlSettings, NumbersKeepEveryBit) {
  for (const double width : {1.1 + 2.2, 2.0 / 3.0, 3.0, 1e2, 0.5 + 1e-15}) {
    House before, after;
    before.width = width;
    read_toml_text(to_toml(before.keys()), "again", after.keys());
    EXPECT_EQ(after.width, width);
  }
  // Far from one, where a number is written with an exponent and without a point.
  double large = 1e20, small = 1e-9, large_again = 0, small_again = 0;
  const auto keys = [](double& a, double& b) {
    return Keys{{number("a.large", "", a, 0, 1e30), number("a.small", "", b, 0, 1)}};
  };
  read_toml_text(to_toml(keys(large, small)), "again", keys(large_again, small_again));
  EXPECT_EQ(large_again, large);
  EXPECT_EQ(small_again, small);
}

TEST(TomlSettings, TablesStandOnceAndKeysInTheirOrder) {
  House house;
  EXPECT_EQ(
      to_toml(house.keys()),
      "[house]\nwidth = 2.5\nheight = \"auto\"\nrooms = 3\ncellar = true\nroof = \"tiles\"\n"
      "\n[lamp]\nglow = 0.5\nfade = \"auto\"\nbulbs = 2\ndimmed = false\nshade = \"paper\"\n");
}

TEST(TomlSettings, WhatAFileDoesNotNameStays) {
  House house;
  const Keys keys = house.keys();
  assign(keys, "house.rooms=7");
  read_toml_text("[house]\nwidth = 9\n", "f.toml", keys);
  EXPECT_EQ(house.width, 9.0);
  EXPECT_EQ(house.rooms, 7);
  read_toml_text("", "empty.toml", keys);
  EXPECT_EQ(house.width, 9.0);
}

TEST(TomlSettings, ARefusalNamesFileAndLine) {
  EXPECT_EQ(refusal_of_toml("[house]\n\nroms = 3\n"),
            "f.toml:3: unknown key 'house.roms'; did you mean 'house.rooms'?");
  EXPECT_EQ(refusal_of_toml("[hous]\nrooms = 3\n"),
            "f.toml:2: unknown key 'hous.rooms'; did you mean 'house.rooms'?");
  EXPECT_EQ(refusal_of_toml("[house]\nrooms = 3.0\n"),
            "f.toml:2: house.rooms = 3 is not allowed; it must be a whole number from 1 to 99");
  EXPECT_EQ(refusal_of_toml("[house]\ncellar = \"true\"\n"),
            "f.toml:2: house.cellar = true is not allowed; it must be true or false");
  EXPECT_EQ(refusal_of_toml("[house]\nwidth = [1, 2]\n"),
            "f.toml:2: house.width = a list, table or date is not allowed; it must be a number "
            "from 0.5 to 100");
  EXPECT_EQ(refusal_of_toml("[house]\nwidth = nan\n"),
            "f.toml:2: house.width = nan is not allowed; it must be a number from 0.5 to 100");
}

TEST(TomlSettings, AKeyOutsideATableIsToldTheTables) {
  EXPECT_EQ(refusal_of_toml("rooms = 3\n"),
            "f.toml:1: 'rooms' stands outside a table; put it under one of [house], [lamp]");
}

TEST(TomlSettings, BrokenTextAndDuplicatesNameTheLine) {
  for (const char* broken : {"[house]\nrooms = 3\nrooms = 4\n", "[house]\nrooms = 3\nrooms = \n",
                             "[house]\nrooms = 3\n[house]\n"}) {
    const std::string said = refusal_of_toml(broken);
    EXPECT_TRUE(said.starts_with("f.toml:3: ")) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

TEST(TomlSettings, AFileIsReadAndAMissingOneNamed) {
  const TemporaryFolder folder;
  folder.write("f.toml", "# a comment\n[house]\nrooms = 8 # and another\n");
  House house;
  read_toml(folder / "f.toml", house.keys());
  EXPECT_EQ(house.rooms, 8);
  const std::string missing = (folder / "none.toml").string();
  const std::string said = refusal([&](House&, const Keys& keys) { read_toml(missing, keys); });
  EXPECT_TRUE(said.starts_with(missing)) << said;
}

TEST(JsonSettings, EveryTypeComesBack) {
  House before, after;
  furnish(before.keys());
  const nlohmann::json json = to_json(before.keys());
  EXPECT_EQ(json.at("house").at("rooms"), 12);
  EXPECT_EQ(json.at("lamp").at("shade"), "glass");
  from_json(nlohmann::json::parse(json.dump()), after.keys());
  EXPECT_EQ(to_json(after.keys()), json);
  from_json(to_json(House().keys()), after.keys());
  EXPECT_EQ(to_json(after.keys()), to_json(House().keys()));
}

TEST(JsonSettings, ARefusalNamesTheKey) {
  const auto refused = [](const char* text) {
    return refusal([&](House&, const Keys& keys) { from_json(nlohmann::json::parse(text), keys); });
  };
  EXPECT_EQ(refused(R"({"house": {"roms": 1}})"),
            "configuration: unknown key 'house.roms'; did you mean 'house.rooms'?");
  EXPECT_EQ(refused(R"({"house": {"rooms": null}})"),
            "configuration: house.rooms = null is not allowed; it must be a whole number from 1 to "
            "99");
  EXPECT_EQ(refused(R"({"house": {"rooms": "3"}})"),
            "configuration: house.rooms = 3 is not allowed; it must be a whole number from 1 to "
            "99");
}

TEST(OwnSettings, AreTheirDefaultsUntilTheyAreSet) {
  const Values values;
  EXPECT_EQ(values.number(kGlow), 0.5);
  EXPECT_FALSE(values.number_or_auto(kFade));
  EXPECT_EQ(values.whole(kBulbs), 2);
  EXPECT_FALSE(values.flag(kDimmed));
  EXPECT_EQ(values.text(kShade), "paper");
}

TEST(OwnSettings, ACopyIsIndependent) {
  House house;
  const Values before = house.values;
  assign(house.keys(), "lamp.bulbs=5");
  const Values after = house.values;
  assign(house.keys(), "lamp.bulbs=6");
  EXPECT_EQ(before.whole(kBulbs), 2);
  EXPECT_EQ(after.whole(kBulbs), 5);
}

TEST(OwnSettings, AKeySaysWhatItsDeclarationSays) {
  Values values;
  const Key glow = key(kGlow, values), fade = key(kFade, values), shade = key(kShade, values);
  EXPECT_EQ(glow.name, "lamp.glow");
  EXPECT_EQ(glow.help, "how warm it is");
  EXPECT_EQ(glow.allowed(), "a number from 0 to 1");
  EXPECT_EQ(fade.allowed(), "a number from 0 to 10, or \"auto\"");
  EXPECT_EQ(shade.allowed(), "one of paper, glass");
}

TEST(ValueText, IsWhatSetReadsBack) {
  for (const bool furnished : {false, true}) {
    House before, after;
    if (furnished)
      furnish(before.keys());
    else
      furnish(after.keys());
    const Keys from = before.keys(), to = after.keys();
    for (const Key& key : from) assign(to, key.name + "=" + value_text(key));
    EXPECT_EQ(to_json(to), to_json(from));
  }
}

TEST(FindKey, SaysWhereAnUnknownOneStands) {
  House house;
  const Keys keys = house.keys();
  EXPECT_EQ(find(keys, "lamp.glow", "here").help, "how warm it is");
  EXPECT_EQ(refusal([](House&, const Keys& k) { find(k, "lamp.glowing", "--range"); }),
            "--range: unknown key 'lamp.glowing'; did you mean 'lamp.glow'?");
}

TEST(Nearest, CountsInsertionsDeletionsAndChanges) {
  EXPECT_EQ(nearest("kitten", {"sitting", "kitchen", "mitten"}), "mitten");
  EXPECT_EQ(nearest("trian", {"info", "train", "plot"}), "train");
  EXPECT_EQ(nearest("", {"long", "a"}), "a");
  EXPECT_EQ(nearest("exact", {"exac", "exact", "exacts"}), "exact");
}

}  // namespace
}  // namespace edict::settings
