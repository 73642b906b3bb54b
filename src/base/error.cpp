#include "base/error.h"

#include <algorithm>
#include <cerrno>
#include <utility>

namespace edict {
namespace {

// Around an option in a message; no text that is read from data keeps such characters.
constexpr char kBegin = '\x01', kValue = '\x02', kEnd = '\x03';

std::string joined(const Error::Fields& fields, OptionStyle style) {
  std::string text;
  for (const std::string* field : {&fields.subject, &fields.place})
    if (const std::string part = with_options(*field, style); !part.empty()) text += part + ": ";
  text += with_options(fields.problem, style);
  if (!fields.remedy.empty()) text += "; " + with_options(fields.remedy, style);
  return text;
}

// A value as one word of a shell's line.
std::string quoted_for_shell(std::string_view value) {
  constexpr std::string_view kPlain = "_-./,:=+@%^~";
  const auto plain = [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           static_cast<unsigned char>(c) >= 0x80 || kPlain.find(c) != kPlain.npos;
  };
  if (std::ranges::all_of(value, plain)) return std::string(value);
  std::string text = "'";
  for (const char c : value) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

std::string_view name(ErrorCode code) {
  switch (code) {
    case ErrorCode::invalid:
      return "invalid";
    case ErrorCode::malformed:
      return "malformed";
    case ErrorCode::mismatch:
      return "mismatch";
    case ErrorCode::not_found:
      return "not_found";
    case ErrorCode::exists:
      return "exists";
    case ErrorCode::unsupported:
      return "unsupported";
    case ErrorCode::not_finite:
      return "not_finite";
    case ErrorCode::machine:
      return "machine";
  }
  return "invalid";
}

std::string option(std::string_view name, std::string_view value) {
  std::string text;
  text += kBegin;
  text += name;
  if (!value.empty()) {
    text += kValue;
    text += value;
  }
  text += kEnd;
  return text;
}

std::string plain_option(std::string_view name, std::string_view value) {
  if (name == kAssignment) return std::string(value);
  std::string text(name);
  if (!value.empty()) text.append("=").append(value);
  return text;
}

std::string command_line_option(std::string_view name, std::string_view value) {
  if (name.find('.') != std::string_view::npos)
    return command_line_option(kAssignment, plain_option(name, value));
  std::string text = "--" + std::string(name);
  std::ranges::replace(text, '_', '-');
  if (!value.empty()) text.append(" ").append(quoted_for_shell(value));
  return text;
}

std::string with_options(std::string_view message, OptionStyle style) {
  std::string text;
  while (true) {
    const std::size_t begin = message.find(kBegin);
    const std::size_t end = begin == message.npos ? message.npos : message.find(kEnd, begin);
    if (end == message.npos) return text.append(message);
    const std::string_view inside = message.substr(begin + 1, end - begin - 1);
    const std::size_t value = std::min(inside.find(kValue), inside.size());
    text.append(message.substr(0, begin));
    text += style(inside.substr(0, value), inside.substr(std::min(value + 1, inside.size())));
    message.remove_prefix(end + 1);
  }
}

Error::Error(ErrorCode code, Fields fields)
    : std::runtime_error(joined(fields, plain_option)),
      code_(code),
      fields_(std::make_shared<const Fields>(std::move(fields))) {}

std::string Error::message(OptionStyle style) const { return joined(*fields_, style); }

bool is_of_machine(int error) {
  for (const int one : {ENOSPC, EDQUOT, EFBIG, EIO, ENOMEM, EMFILE, ENFILE, EAGAIN, ESTALE, ENOLCK})
    if (error == one) return true;
  return false;
}

void throw_system_error(int error, const std::string& what) {
  if (is_of_machine(error)) throw MachineError(what);
  throw Error(what);
}

}  // namespace edict
