#include "research/import/mimic/hdf5_file.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"

namespace edict {
namespace {

constexpr std::size_t kMostElements = std::size_t{1} << 32;  // of one dataset read whole

hid_t open_quietly(const std::filesystem::path& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);  // the library would print its own messages
  return H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
}

}  // namespace

Hdf5File::Hdf5File(const std::filesystem::path& path)
    : path_(path), file_(open_quietly(path), H5Fclose) {
  if (file_ < 0)
    throw Error(fmt::format("{}: is no HDF5 file, damaged or cut short; download or write it again",
                            path.string()));
}

void Hdf5File::fail(const std::string& path, std::string_view what) const {
  throw Error(fmt::format("{}: /{}: {}", path_.string(), path, what));
}

bool Hdf5File::has(const std::string& path) const {
  for (std::size_t end = 0; end != path.npos;) {
    end = path.find('/', end + 1);
    if (H5Lexists(file_, path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
  }
  return H5Oexists_by_name(file_, path.c_str(), H5P_DEFAULT) > 0;
}

Hdf5Id Hdf5File::dataset(const std::string& path) const {
  if (!has(path)) fail(path, "is not there; the file is not in pandas' layout");
  return {check(H5Dopen2(file_, path.c_str(), H5P_DEFAULT), path), H5Dclose};
}

std::vector<std::size_t> Hdf5File::shape(const std::string& path) const {
  const Hdf5Id data = dataset(path);
  const Hdf5Id space(check(H5Dget_space(data), path), H5Sclose);
  std::array<hsize_t, H5S_MAX_RANK> extents{};
  const int rank = check(H5Sget_simple_extent_dims(space, extents.data(), nullptr), path);
  return {extents.begin(), extents.begin() + rank};
}

bool Hdf5File::is_number(const std::string& path) const {
  const Hdf5Id data = dataset(path);
  const Hdf5Id type(check(H5Dget_type(data), path), H5Tclose);
  return is_plain_number(type);
}

std::vector<std::int64_t> Hdf5File::integers(const std::string& path) const {
  const auto extents = shape(path);
  if (extents.size() != 1 || extents[0] > kMostElements || !is_number(path))
    fail(path, "is no list of whole numbers");
  std::vector<std::int64_t> values(extents[0]);
  if (!values.empty())
    check(H5Dread(dataset(path), H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
          path);
  return values;
}

std::vector<std::string> Hdf5File::strings(const std::string& path) const {
  const auto extents = shape(path);
  const Hdf5Id data = dataset(path);
  const Hdf5Id type(check(H5Dget_type(data), path), H5Tclose);
  const std::size_t width = H5Tget_size(type);
  if (extents.size() != 1 || H5Tget_class(type) != H5T_STRING || H5Tis_variable_str(type) != 0 ||
      width == 0 || extents[0] > kMostElements / width)
    fail(path, "is no list of texts");
  std::vector<char> bytes(extents[0] * width);
  if (!bytes.empty()) check(H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, bytes.data()), path);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < extents[0]; ++i)
    texts.push_back(fixed_text(bytes.data() + i * width, width));
  return texts;
}

void Hdf5File::rows(const std::string& path, std::size_t first, std::size_t count,
                    double* out) const {
  const auto extents = shape(path);
  const Hdf5Id data = dataset(path);
  const Hdf5Id space(check(H5Dget_space(data), path), H5Sclose);
  const std::array<hsize_t, 2> start{first, 0}, size{count, extents.at(1)};
  check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, size.data(), nullptr),
        path);
  const Hdf5Id memory(check(H5Screate_simple(2, size.data(), nullptr), path), H5Sclose);
  check(H5Dread(data, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, out), path);
}

std::optional<Hdf5File::Attribute> Hdf5File::attribute(const std::string& path,
                                                       const std::string& name) const {
  if (H5Aexists_by_name(file_, path.c_str(), name.c_str(), H5P_DEFAULT) <= 0) return {};
  Hdf5Id id(
      check(H5Aopen_by_name(file_, path.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT), path),
      H5Aclose);
  const Hdf5Id space(check(H5Aget_space(id), path), H5Sclose);
  Hdf5Id type(check(H5Aget_type(id), path), H5Tclose);
  if (H5Sget_simple_extent_npoints(space) != 1) return {};
  return Attribute{std::move(id), std::move(type)};
}

std::optional<std::int64_t> Hdf5File::integer_attribute(const std::string& path,
                                                        const std::string& name) const {
  const auto found = attribute(path, name);
  if (!found || !is_plain_number(found->type)) return {};
  std::int64_t value = 0;
  check(H5Aread(found->id, H5T_NATIVE_INT64, &value), path);
  return value;
}

std::optional<std::string> Hdf5File::text_attribute(const std::string& path,
                                                    const std::string& name) const {
  const auto found = attribute(path, name);
  if (!found || H5Tget_class(found->type) != H5T_STRING || H5Tis_variable_str(found->type) != 0)
    return {};
  std::vector<char> bytes(H5Tget_size(found->type));
  check(H5Aread(found->id, found->type, bytes.data()), path);
  return fixed_text(bytes.data(), bytes.size());
}

bool is_plain_number(hid_t type) {
  for (const hid_t known :
       {H5T_STD_I8LE,  H5T_STD_I16LE,  H5T_STD_I32LE,  H5T_STD_I64LE,  H5T_STD_U8LE,
        H5T_STD_U16LE, H5T_STD_U32LE,  H5T_STD_U64LE,  H5T_STD_I8BE,   H5T_STD_I16BE,
        H5T_STD_I32BE, H5T_STD_I64BE,  H5T_STD_U8BE,   H5T_STD_U16BE,  H5T_STD_U32BE,
        H5T_STD_U64BE, H5T_IEEE_F32LE, H5T_IEEE_F64LE, H5T_IEEE_F32BE, H5T_IEEE_F64BE})
    if (H5Tequal(type, known) > 0) return true;
  return false;
}

std::string fixed_text(const char* text, std::size_t width) {
  return {text, std::find(text, text + width, '\0')};
}

}  // namespace edict
