#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "research/import/mimic/pandas_frame.h"
#include "research/import/mimic/pickled_names.h"

namespace edict {
namespace {

// A member of the compound record: `names.size()` neighbouring columns of one kind.
struct Member {
  std::string name;
  bool is_text = false;
  std::size_t width = 0;  // bytes of a text
  std::vector<std::vector<std::string>> names;
};

class TableFrame : public PandasFrame {
 public:
  TableFrame(const Hdf5File& file, const std::string& key)
      : file_(file), key_(key), path_(key + "/table"), data_(file.dataset(path_)) {
    const auto extents = file.shape(path_);
    const Hdf5Id record(file.check(H5Dget_type(data_), path_), H5Tclose);
    if (extents.size() != 1 || H5Tget_class(record) != H5T_COMPOUND)
      file.fail(path_, "is no table as pandas writes it");
    rows_ = extents[0];
    const int members = file.check(H5Tget_nmembers(record), path_);
    for (int i = 0; i < members; ++i) add_member(record, static_cast<unsigned>(i));
  }

  std::vector<std::int64_t> integers(const std::string& name) const override {
    const auto column = find(name);
    if (!column) file_.fail(key_, fmt::format("has no column or index level '{}'", name));
    std::size_t first = 0;
    for (const Member& member : numbers_) {
      if (*column < first + member.names.size()) {
        const std::size_t width = member.names.size();
        std::vector<std::int64_t> all(rows_ * width), result(rows_);
        read_member(member.name, number_type(H5T_NATIVE_INT64, width), 0, rows_, all.data());
        for (std::size_t i = 0; i < rows_; ++i) result[i] = all[i * width + *column - first];
        return result;
      }
      first += member.names.size();
    }
    return {};
  }

  std::optional<std::vector<std::string>> texts(const std::string& name) const override {
    for (const Member& member : texts_)
      for (std::size_t j = 0; j < member.names.size(); ++j)
        if (member.names[j][0] == name) return member_texts(member, j);
    // A category is a column of codes with a table of texts beside it.
    for (const Member& member : numbers_) {
      const std::string meta = fmt::format("{}/meta/{}/meta", key_, member.name);
      if (member.names[0][0] != name || !file_.has(meta + "/table")) continue;
      const auto categories = TableFrame(file_, meta).texts("values");
      if (!categories) return {};
      std::vector<std::string> result;
      for (const std::int64_t code : integers(name)) {
        const bool known = code >= 0 && code < static_cast<std::int64_t>(categories->size());
        result.push_back(known ? (*categories)[static_cast<std::size_t>(code)] : "");
      }
      return result;
    }
    return {};
  }

  void read(std::size_t first, std::size_t count, double* out) const override {
    std::vector<double> part;
    std::size_t offset = 0;
    for (const Member& member : numbers_) {
      const std::size_t width = member.names.size();
      part.resize(count * width);
      read_member(member.name, number_type(H5T_NATIVE_DOUBLE, width), first, count, part.data());
      for (std::size_t i = 0; i < count; ++i)
        std::copy_n(&part[i * width], width, out + i * columns_.size() + offset);
      offset += width;
    }
  }

 private:
  void add_member(hid_t record, unsigned index) {
    char* raw = H5Tget_member_name(record, index);
    Member member;
    member.name = raw ? raw : "";
    H5free_memory(raw);
    if (member.name.empty() || member.name == "index") return;
    const Hdf5Id type(file_.check(H5Tget_member_type(record, index), path_), H5Tclose);
    std::size_t items = 1;
    member.width = H5Tget_size(type);
    member.is_text = H5Tget_class(type) == H5T_STRING;
    bool is_number = is_plain_number(type);
    if (H5Tget_class(type) == H5T_ARRAY) {
      std::array<hsize_t, H5S_MAX_RANK> extents{};
      if (file_.check(H5Tget_array_dims2(type, extents.data()), path_) != 1 || extents[0] == 0)
        file_.fail(path_, fmt::format("'{}' is no row of columns", member.name));
      items = extents[0];
      member.width /= items;
      const Hdf5Id element(file_.check(H5Tget_super(type), path_), H5Tclose);
      member.is_text = H5Tget_class(element) == H5T_STRING;
      is_number = is_plain_number(element);
    }
    if (!member.is_text && !is_number) return;

    const auto names = file_.text_attribute(path_, member.name + "_kind");
    if (!names) file_.fail(path_, fmt::format("lacks the names of the columns '{}'", member.name));
    member.names = read_pickled_names(*names, path_);
    const bool named = std::none_of(member.names.begin(), member.names.end(),
                                    [](const auto& levels) { return levels.empty(); });
    if (member.names.size() != items || !named)
      file_.fail(path_, fmt::format("'{}' has {} columns and {} names; write the file again",
                                    member.name, items, member.names.size()));
    if (!member.is_text)
      for (const auto& levels : member.names) columns_.push_back(pandas_column(levels));
    (member.is_text ? texts_ : numbers_).push_back(std::move(member));
  }

  // In memory: `width` neighbouring elements.
  Hdf5Id number_type(hid_t element, std::size_t width) const {
    const hsize_t extent = width;
    if (width == 1) return {file_.check(H5Tcopy(element), path_), H5Tclose};
    return {file_.check(H5Tarray_create2(element, 1, &extent), path_), H5Tclose};
  }

  // Numbers that stand alone in the record and arrays of one number are told apart by the file.
  bool is_array(const std::string& member) const {
    const Hdf5Id record(file_.check(H5Dget_type(data_), path_), H5Tclose);
    const int index = file_.check(H5Tget_member_index(record, member.c_str()), path_);
    return H5Tget_member_class(record, static_cast<unsigned>(index)) == H5T_ARRAY;
  }

  void read_member(const std::string& member, const Hdf5Id& plain, std::size_t first,
                   std::size_t count, void* out) const {
    if (count == 0) return;
    const hsize_t one = 1;
    const bool wrap = is_array(member) && H5Tget_class(plain) != H5T_ARRAY;
    const Hdf5Id type(file_.check(wrap ? H5Tarray_create2(plain, 1, &one) : H5Tcopy(plain), path_),
                      H5Tclose);
    const Hdf5Id record(file_.check(H5Tcreate(H5T_COMPOUND, H5Tget_size(type)), path_), H5Tclose);
    file_.check(H5Tinsert(record, member.c_str(), 0, type), path_);
    const Hdf5Id space(file_.check(H5Dget_space(data_), path_), H5Sclose);
    const hsize_t start = first, size = count;
    file_.check(H5Sselect_hyperslab(space, H5S_SELECT_SET, &start, nullptr, &size, nullptr), path_);
    const Hdf5Id memory(file_.check(H5Screate_simple(1, &size, nullptr), path_), H5Sclose);
    file_.check(H5Dread(data_, record, memory, space, H5P_DEFAULT, out), path_);
  }

  std::vector<std::string> member_texts(const Member& member, std::size_t item) const {
    const std::size_t items = member.names.size();
    const Hdf5Id element(file_.check(H5Tcopy(H5T_C_S1), path_), H5Tclose);
    file_.check(H5Tset_size(element, member.width), path_);
    file_.check(H5Tset_strpad(element, H5T_STR_NULLPAD), path_);
    std::vector<char> bytes(rows_ * items * member.width);
    read_member(member.name, number_type(element, items), 0, rows_, bytes.data());
    std::vector<std::string> result;
    for (std::size_t i = 0; i < rows_; ++i)
      result.push_back(fixed_text(&bytes[(i * items + item) * member.width], member.width));
    return result;
  }

  const Hdf5File& file_;
  std::string key_, path_;
  Hdf5Id data_;
  std::vector<Member> numbers_, texts_;
};

}  // namespace

std::unique_ptr<PandasFrame> open_pandas_table(const Hdf5File& file, const std::string& key) {
  return std::make_unique<TableFrame>(file, key);
}

}  // namespace edict
