// Errors, progress, guards, and what the other headers of the C++ interface share.
#ifndef EDICT_GENERAL_HPP
#define EDICT_GENERAL_HPP

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "edict/edict.h"

namespace edict {

// What went wrong, as a code and a kind to branch on, as one line (what()), and in its parts.
class Error : public std::runtime_error {
 public:
  // Of the last call of this thread, which failed with this code.
  explicit Error(int code)
      : std::runtime_error(edict_last_error()), code_(static_cast<edict_code>(code)) {
    edict_error error{};
    edict_last_error_parts(&error, sizeof error);
    kind_ = static_cast<edict_error_kind>(error.kind);
    parts_ = std::make_shared<const Parts>(
        Parts{error.subject, error.place, error.problem, error.remedy});
  }

  edict_code code() const noexcept { return code_; }        // EDICT_INPUT, EDICT_MEMORY, …
  edict_error_kind kind() const noexcept { return kind_; }  // EDICT_ERROR_NOT_FOUND, …
  const std::string& subject() const noexcept { return parts_->subject; }  // the file, the series
  const std::string& place() const noexcept { return parts_->place; }      // a line, a column in it
  const std::string& problem() const noexcept { return parts_->problem; }
  const std::string& remedy() const noexcept { return parts_->remedy; }

 private:
  struct Parts {
    std::string subject, place, problem, remedy;
  };
  edict_code code_;
  edict_error_kind kind_ = EDICT_ERROR_NONE;
  std::shared_ptr<const Parts> parts_;  // shared, so that copying an exception cannot fail
};

namespace detail {

inline void check(int code) {
  if (code != EDICT_OK) throw Error(code);
}

// One deleter for all handles.
struct Free {
  void operator()(edict_bytes* bytes) const noexcept { edict_bytes_free(bytes); }
  void operator()(edict_control* control) const noexcept { edict_control_free(control); }
  void operator()(edict_builder* builder) const noexcept { edict_builder_free(builder); }
  void operator()(edict_dataset* dataset) const noexcept { edict_dataset_free(dataset); }
  void operator()(edict_model* model) const noexcept { edict_model_free(model); }
  void operator()(edict_streams* streams) const noexcept { edict_streams_free(streams); }
};
template <class Handle>
using Owner = std::unique_ptr<Handle, Free>;

// What a function of edict.h writes through `out`, its last argument.
template <class Handle, class Call>
Owner<Handle> made(const Call& call) {
  Handle* out = nullptr;
  const int code = call(&out);
  Owner<Handle> owner(out);  // training that was stopped fails and yields a model
  check(code);
  return owner;
}
template <class Call>
std::string text(const Call& call) {
  const auto bytes = made<edict_bytes>(call);
  return {static_cast<const char*>(edict_bytes_data(bytes.get())), edict_bytes_size(bytes.get())};
}

inline std::int64_t count(std::size_t size) { return static_cast<std::int64_t>(size); }
inline std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }

// Texts as C takes them, valid as long as the texts are.
inline std::vector<const char*> pointers(std::span<const std::string> texts) {
  std::vector<const char*> out;
  for (const std::string& text : texts) out.push_back(text.c_str());
  return out;
}

// Names one after the other, each with a zero byte behind it.
inline std::vector<std::string> split_names(const std::string& all) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at < all.size(); at += out.back().size() + 1)
    out.emplace_back(all.c_str() + at);
  return out;
}

inline void need(bool holds, const char* problem) {
  if (!holds) throw std::invalid_argument(problem);
}

inline std::string quoted(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20) {
      out.append("\\u00").append(1, kHex[byte >> 4]).append(1, kHex[byte & 15]);
      continue;
    }
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

}  // namespace detail

inline std::string version() { return edict_version(); }
// Every setting that training takes, as JSON.
inline std::string settings() {
  return detail::text([](edict_bytes** out) { return edict_settings(out); });
}

// Progress of a long call and a way to stop it, for another thread.
class Control {
 public:
  Control()
      : handle_(detail::made<edict_control>(
            [](edict_control** out) { return edict_control_new(out); })) {}
  edict_progress progress() const {
    edict_progress now{};
    edict_control_read(handle_.get(), &now, sizeof now);
    return now;
  }
  // The call fails with EDICT_INTERRUPTED within about a second.
  void stop() { edict_control_stop(handle_.get()); }
  edict_control* handle() const noexcept { return handle_.get(); }

 private:
  detail::Owner<edict_control> handle_;
};

// How observations are limited before they are absorbed. By default they are not.
struct Guard : edict_guard {
  explicit Guard(edict_guard_kind of = EDICT_GUARD_NONE, double deviations = 1.96)
      : edict_guard{of, EDICT_DEVIATION_EPISTEMIC, deviations} {}
  // To what the model expects, or to the range of the training data.
  static Guard edgr(double deviations = 1.96) { return Guard(EDICT_GUARD_EDGR, deviations); }
  static Guard population(double deviations = 1.96) {
    return Guard(EDICT_GUARD_POPULATION, deviations);
  }
};

namespace detail {
inline edict_control* handle_of(const Control* control) {
  return control ? control->handle() : nullptr;
}
}  // namespace detail

// Of calls that work on every series of a dataset. `threads`: 0 means as many as the machine has;
// results are the same bits for every number.
struct RunOptions {
  Guard guard = Guard();
  int threads = 0;
  Control* control = nullptr;
};

}  // namespace edict

#endif
