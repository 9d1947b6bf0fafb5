// Holds at most one value of each type, shared by copies. A struct can thus hold values that only
// some jobs have, without a member and a header for each.
#pragma once

#include <map>
#include <memory>
#include <typeindex>
#include <utility>

namespace windtunnel {

class ValuesByType {
 public:
  // Null if there is no value of this type.
  template <class T>
  const T* find() const {
    const auto found = values_.find(typeid(T));
    return found == values_.end() ? nullptr : static_cast<const T*>(found->second.get());
  }
  template <class T>
  bool has() const {
    return find<T>() != nullptr;
  }

  // Replaces a value of the same type.
  template <class T>
  void set(T value) {
    share(std::make_shared<const T>(std::move(value)));
  }
  // As set(), but without copying; null changes nothing.
  template <class T>
  void share(std::shared_ptr<const T> value) {
    if (value != nullptr) values_[typeid(T)] = std::move(value);
  }

 private:
  std::map<std::type_index, std::shared_ptr<const void>> values_;
};

}  // namespace windtunnel
