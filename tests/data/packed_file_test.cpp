#include "data/packed_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <numeric>

#include "base/error.h"
#include "data/fingerprint.h"
#include "data/full_dataset.h"
#include "data/subset.h"
#include "temporary_folder.h"

namespace edict {
namespace {

// Everything that a dataset can hold, dates with zones included.
Dataset dated() {
  return read_csv_text(
      "id,time,x,label\n"
      "b,2024-03-01 08:00+01:00,1,u\n"
      "b,2024-03-01 12:30+02:00,2,u\n"
      "a,2024-03-02 09:00+01:00,3,v\n"
      "c,,,\n",
      "dated");
}

std::string written(const Dataset& data) {
  const TemporaryFolder folder;
  write_csv(data, folder / "x.csv");
  return folder.read("x.csv");
}

TEST(PackedFile, KeepsEverythingAndTheOrderOfIds) {
  const TemporaryFolder folder;
  for (const Dataset& data : {full(), dated()}) {
    write_packed(data, folder / "x.edict");
    ASSERT_TRUE(is_packed_file(folder / "x.edict"));
    const Dataset packed = open_packed(folder / "x.edict");
    std::vector<std::size_t> order(data.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return data.ids[a] < data.ids[b]; });
    const Dataset sorted = subset(data, order);
    EXPECT_EQ(fingerprint(packed), fingerprint(sorted));
    EXPECT_EQ(written(packed), written(sorted)) << "dates and their zones are written as before";
    EXPECT_EQ(packed.reading.time, "time");
    EXPECT_EQ(packed.reading.features, data.reading.features);
    EXPECT_TRUE(packed.times.is_view() && packed.value.is_view() && packed.feature.is_view() &&
                packed.first_event.is_view() && packed.first_observation.is_view())
        << "a second copy";
  }
}

TEST(PackedFile, OutlivesItsNameAndIsCopiedOnlyToBeChanged) {
  const TemporaryFolder folder;
  write_packed(full(), folder / "x.edict");
  Dataset packed = open_packed(folder / "x.edict");
  std::filesystem::remove(folder / "x.edict");
  const Dataset copy = packed;
  EXPECT_TRUE(copy.value.is_view()) << "a copy of a dataset looks at the same file";
  packed.value[0] = 17;
  EXPECT_FALSE(packed.value.is_view());
  EXPECT_EQ(copy.value[0], full().value[0]);
}

// Byte after byte: none can change without being found, but for the padding between sections,
// which means nothing.
TEST(PackedFile, AnyChangedByteIsFound) {
  const TemporaryFolder folder;
  write_packed(full(), folder / "x.edict");
  const std::string bytes = folder.read("x.edict");
  const std::uint64_t fingerprint_before = fingerprint(open_packed(folder / "x.edict"));
  std::size_t found = 0, harmless = 0;
  folder.write("y.edict", bytes);
  std::fstream file(folder / "y.edict", std::ios::in | std::ios::out | std::ios::binary);
  const auto put = [&](std::size_t i, char byte) {
    file.seekp(static_cast<std::streamoff>(i));
    file.put(byte).flush();
  };
  for (std::size_t i = 0; i < bytes.size(); put(i, bytes[i]), ++i) {
    put(i, static_cast<char>(bytes[i] ^ 0x10));
    try {
      EXPECT_EQ(fingerprint(open_packed(folder / "y.edict")), fingerprint_before) << i;
      EXPECT_EQ(bytes[i], '\0') << "byte " << i << " is no padding";
      ++harmless;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("y.edict: "), std::string::npos) << error.what();
      ++found;
    }
  }
  EXPECT_GT(found, bytes.size() / 2);
  EXPECT_LT(harmless, std::size_t{14 * 64}) << "at most the padding of fourteen sections";
}

TEST(PackedFile, AFileThatWasCutIsRefused) {
  const TemporaryFolder folder;
  write_packed(full(), folder / "x.edict");
  const std::string bytes = folder.read("x.edict");
  for (const std::size_t size :
       {std::size_t{8}, std::size_t{16}, std::size_t{40}, bytes.size() / 2, bytes.size() - 1}) {
    folder.write("y.edict", bytes.substr(0, size));
    EXPECT_THROW(open_packed(folder / "y.edict"), Error) << size;
  }
  folder.write("z.csv", "id,time,x\na,1,2\n");
  EXPECT_FALSE(is_packed_file(folder / "z.csv"));
  EXPECT_FALSE(is_packed_file(folder / "not there"));
}

TEST(PackedFile, SeriesComeByIdEachOnce) {
  const TemporaryFolder folder;
  const Dataset data = full();
  PackedWriter writer(folder / "x.edict");
  writer.add(data, std::vector<std::size_t>{1});
  EXPECT_THROW(writer.add(data, std::vector<std::size_t>{0}), Error);
  EXPECT_FALSE(folder.exists("x.edict")) << "nothing appears before it is finished";
}

}  // namespace
}  // namespace edict
