// JSON, with values that survive a lack of memory. nlohmann 3.11 destroys a value by way of a list
// of its members, for which it needs memory, and crashes where a null could not become an object or
// an array for want of it. Here members are destroyed where they are, which takes a stack as deep
// as they nest (parse_json refuses what nests deeply), and there may be none. Everything includes
// this file in place of <nlohmann/json.hpp>, because a program must have one definition of it.
#pragma once

#include <memory>
#include <nlohmann/json.hpp>
#include <type_traits>

template <>
inline void nlohmann::basic_json<>::json_value::destroy(nlohmann::detail::value_t type) {
  const auto remove = [](auto* content) {
    if (!content) return;
    std::destroy_at(content);
    std::allocator<std::remove_pointer_t<decltype(content)>>().deallocate(content, 1);
  };
  if (type == nlohmann::detail::value_t::object) remove(object);
  if (type == nlohmann::detail::value_t::array) remove(array);
  if (type == nlohmann::detail::value_t::string) remove(string);
  if (type == nlohmann::detail::value_t::binary) remove(binary);
}
