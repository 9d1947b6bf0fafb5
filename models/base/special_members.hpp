// Construction, copying, moving and destruction of a large struct, compiled in one source. By
// default the compiler generates them again in each source that uses the struct, which for Job,
// Calibration and similar structs was an eighth of the program's object code. Such a struct is no
// aggregate, so each member needs an initialiser or a default constructor.
#pragma once

// NOLINTBEGIN(bugprone-macro-parentheses): the argument is the name of a type.

// Put this in the struct, before its members.
#define DECLARE_SPECIAL_MEMBERS(Type)     \
  Type();                                 \
  Type(const Type& other);                \
  Type(Type&& other) noexcept;            \
  Type& operator=(const Type& other);     \
  Type& operator=(Type&& other) noexcept; \
  ~Type()

// Put this in one source, inside the namespace.
#define DEFINE_SPECIAL_MEMBERS(Type)                      \
  Type::Type() = default;                                 \
  Type::Type(const Type& other) = default;                \
  Type::Type(Type&& other) noexcept = default;            \
  Type& Type::operator=(const Type& other) = default;     \
  Type& Type::operator=(Type&& other) noexcept = default; \
  Type::~Type() = default

// NOLINTEND(bugprone-macro-parentheses)
