#include "front/capi/border.h"

#include <algorithm>
#include <new>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "base/json/json.h"
#include "base/json/json_text.h"
#include "model/config.h"
#include "settings/declarations.h"

namespace edict::capi {
namespace {

// Arrays, because a text that must be destroyed with its thread needs memory to be made.
struct LastError {
  int code = EDICT_OK, kind = EDICT_ERROR_NONE;
  char message[4096], subject[1024], place[512], problem[4096], remedy[1024];
};
thread_local LastError last_error{};

template <std::size_t Capacity>
void keep(std::string_view text, char (&to)[Capacity]) noexcept {
  std::size_t size = std::min(text.size(), Capacity - 1);
  if (size < text.size())  // not within a letter
    while (size > 0 && (text[size] & 0xC0) == 0x80) --size;
  std::copy_n(text.begin(), size, to);
  to[size] = '\0';
}

int remember(int code, std::string_view text, int kind = EDICT_ERROR_NONE) noexcept {
  last_error.code = code;
  last_error.kind = kind;
  keep(text, last_error.message);
  keep(text, last_error.problem);
  for (char* part : {last_error.subject, last_error.place, last_error.remedy}) *part = '\0';
  return code;
}

int kind_of(ErrorCode code) noexcept {
  switch (code) {
    case ErrorCode::invalid:
      return EDICT_ERROR_INVALID;
    case ErrorCode::malformed:
      return EDICT_ERROR_MALFORMED;
    case ErrorCode::mismatch:
      return EDICT_ERROR_MISMATCH;
    case ErrorCode::not_found:
      return EDICT_ERROR_NOT_FOUND;
    case ErrorCode::exists:
      return EDICT_ERROR_EXISTS;
    case ErrorCode::unsupported:
      return EDICT_ERROR_UNSUPPORTED;
    case ErrorCode::not_finite:
      return EDICT_ERROR_NOT_FINITE;
    case ErrorCode::machine:
      return EDICT_ERROR_MACHINE;
  }
  return EDICT_ERROR_NONE;
}

int remember(int code, const Error& error) noexcept {
  remember(code, error.what(), kind_of(error.code()));
  try {
    const auto& [subject, place, problem, remedy] = error.fields();
    keep(with_options(problem, plain_option), last_error.problem);
    keep(with_options(subject, plain_option), last_error.subject);
    keep(with_options(place, plain_option), last_error.place);
    keep(with_options(remedy, plain_option), last_error.remedy);
  } catch (const std::bad_alloc&) {  // then the line has no parts
    remember(code, error.what(), kind_of(error.code()));
  }
  return code;
}

}  // namespace

int failed() noexcept {
  try {
    throw;
  } catch (const Interrupted& e) {
    return remember(EDICT_INTERRUPTED, e.what());
  } catch (const MachineError& e) {
    return remember(EDICT_MACHINE, e);
  } catch (const Error& e) {
    return remember(EDICT_INPUT, e);
  } catch (const std::bad_alloc&) {
    return remember(EDICT_MEMORY, "out of memory; ask for less at once", EDICT_ERROR_MACHINE);
  } catch (const std::system_error& e) {
    const bool machine = is_of_machine(e.code().value());
    return remember(machine ? EDICT_MACHINE : EDICT_INPUT, e.what(),
                    machine ? EDICT_ERROR_MACHINE : EDICT_ERROR_INVALID);
  } catch (const std::exception& e) {
    return remember(EDICT_FAULT, e.what());
  } catch (...) {
    return remember(EDICT_FAULT, "an exception of unknown type");
  }
}

void check_given(const void* pointer, const char* what) {
  if (!pointer) throw Error(std::string(what) + " is NULL");
}

std::size_t size_of(std::int64_t count, const char* what) {
  if (count < 0) throw Error(std::string(what) + " is negative");
  return static_cast<std::size_t>(count);
}

std::vector<std::string> names_from(std::int64_t count, const char* const* names,
                                    const char* what) {
  const std::size_t size = size_of(count, what);
  if (size > 0) check_given(names, what);
  for (std::size_t i = 0; i < size; ++i) check_given(names[i], what);
  return {names, names + size};
}

std::vector<std::string> plain(std::vector<std::string> notes) {
  for (std::string& note : notes) note = with_options(note, plain_option);
  return notes;
}

edict_bytes* new_bytes(std::string content) { return new edict_bytes{std::move(content)}; }

Guard guard_from(const edict_guard* guard) {
  if (!guard) return {};
  if (guard->kind < EDICT_GUARD_NONE || guard->kind > EDICT_GUARD_POPULATION)
    throw Error("a guard of unknown kind " + std::to_string(guard->kind));
  if (guard->deviation < EDICT_DEVIATION_EPISTEMIC || guard->deviation > EDICT_DEVIATION_PREDICTIVE)
    throw Error("a guard with unknown deviation " + std::to_string(guard->deviation));
  constexpr Guard::Kind kKinds[] = {Guard::Kind::none, Guard::Kind::edgr, Guard::Kind::population};
  return {kKinds[guard->kind], guard->eta,
          guard->deviation == EDICT_DEVIATION_EPISTEMIC ? Guard::Deviation::epistemic
                                                        : Guard::Deviation::predictive};
}

StopFlag stop_of(const edict_control* control) { return control ? &control->stop : nullptr; }

}  // namespace edict::capi

using edict::capi::run_guarded;

const char* edict_version() { return EDICT_VERSION; }
int edict_api() { return EDICT_API; }
const char* edict_last_error() { return edict::capi::last_error.message; }

void edict_last_error_parts(edict_error* error, size_t size) {
  const auto& last = edict::capi::last_error;
  edict::capi::copy_out(
      {last.code, last.kind, last.message, last.subject, last.place, last.problem, last.remedy},
      error, size);
}

const void* edict_bytes_data(const edict_bytes* bytes) { return bytes->content.c_str(); }
size_t edict_bytes_size(const edict_bytes* bytes) { return bytes->content.size(); }
void edict_bytes_free(edict_bytes* bytes) { delete bytes; }

int edict_settings(edict_bytes** out) {
  return run_guarded([&] {
    edict::capi::check_given(out, "out");
    edict::Config config;
    nlohmann::json list = nlohmann::json::array();
    for (const edict::settings::Key& key : edict::keys(config))
      list.push_back(edict::settings::declaration(key));
    *out = edict::capi::new_bytes(edict::json_text(list));
  });
}

int edict_control_new(edict_control** out) {
  return run_guarded([&] {
    edict::capi::check_given(out, "out");
    *out = new edict_control;
  });
}

void edict_control_read(const edict_control* control, edict_progress* progress, size_t size) {
  const std::lock_guard lock(control->mutex);
  edict::capi::copy_out(control->progress, progress, size);
}

void edict_control_stop(edict_control* control) { control->stop = true; }
void edict_control_free(edict_control* control) { delete control; }
