#include "tests/fuzz/damage.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <string_view>

namespace windtunnel {
namespace {

struct Part {
  size_t begin = 0;
  size_t length = 0;
};

class Damage {
 public:
  Damage(const std::vector<std::string>& files, RandomStream& random)
      : files_(files), random_(random), bytes_(any_file()) {}

  std::string result() {
    const size_t damages = 1 + below(4);
    for (size_t i = 0; i < damages; ++i) damage();
    return bytes_;
  }

 private:
  size_t below(size_t bound) {
    return static_cast<size_t>(random_.below(std::max<size_t>(1, bound)));
  }
  const std::string& any_file() { return files_[below(files_.size())]; }

  Part any_part(const std::string& bytes, size_t longest) {
    const size_t begin = below(bytes.size() + 1);
    return {begin, std::min(bytes.size() - begin, below(longest) + 1)};
  }

  // Returns a run of digits, signs and points at or after a random place.
  Part any_number() {
    const auto is_number = [&](size_t at) {
      const unsigned char c = static_cast<unsigned char>(bytes_[at]);
      return std::isdigit(c) || c == '.' || c == '-' || c == '+';
    };
    size_t begin = below(bytes_.size());
    while (begin < bytes_.size() && !is_number(begin)) ++begin;
    size_t end = begin;
    while (end < bytes_.size() && is_number(end)) ++end;
    return {begin, end - begin};
  }

  Part any_line() {
    const size_t at = below(bytes_.size());
    const size_t before = at == 0 ? std::string::npos : bytes_.rfind('\n', at - 1);
    const size_t begin = before == std::string::npos ? 0 : before + 1;
    const size_t after = bytes_.find('\n', begin);
    return {begin, (after == std::string::npos ? bytes_.size() : after + 1) - begin};
  }

  std::string_view any_word() {
    static constexpr std::array<std::string_view, 36> kWords = {"0",
                                                                "-1",
                                                                "1e308",
                                                                "-1e308",
                                                                "1e-308",
                                                                "nan",
                                                                "inf",
                                                                "-inf",
                                                                "2147483648",
                                                                "4294967296",
                                                                "9223372036854775808",
                                                                "99999999999999999999999999",
                                                                "1e9",
                                                                "1e18",
                                                                "0x10",
                                                                "1,5",
                                                                "",
                                                                " ",
                                                                "\t",
                                                                "\n",
                                                                "\r\n",
                                                                "\"",
                                                                "'",
                                                                ",",
                                                                ":",
                                                                "{",
                                                                "}",
                                                                "[",
                                                                "]",
                                                                "&a ",
                                                                "*a",
                                                                "#",
                                                                "\xff\xfe",
                                                                "\xc3\x28",
                                                                "null",
                                                                "true"};
    return kWords[below(kWords.size())];
  }

  void damage() {
    enum {
      kFlip,
      kByte,
      kCut,
      kDouble,
      kSwap,
      kWord,
      kNumber,
      kLoseLine,
      kMoveLine,
      kEnd,
      kOther,
      kDeep,
      kNul,
      kKinds
    };
    switch (below(kKinds)) {
      case kFlip:
        if (!bytes_.empty()) bytes_[below(bytes_.size())] ^= static_cast<char>(1 << below(8));
        return;
      case kByte:
        if (!bytes_.empty()) bytes_[below(bytes_.size())] = static_cast<char>(below(256));
        return;
      case kCut:
        return replace(any_part(bytes_, 64), "");
      case kDouble: {
        const Part part = any_part(bytes_, 256);
        bytes_.insert(part.begin, bytes_.substr(part.begin, part.length));
        return;
      }
      case kSwap: {
        if (bytes_.size() < 2) return;
        std::swap(bytes_[below(bytes_.size())], bytes_[below(bytes_.size())]);
        return;
      }
      case kWord:
        return replace(any_part(bytes_, 8), any_word());
      case kNumber:
        return replace(any_number(), any_word());
      case kLoseLine:
        return replace(any_line(), "");
      case kMoveLine: {
        const Part line = any_line();
        const std::string text = bytes_.substr(line.begin, line.length);
        replace(line, "");
        bytes_.insert(any_line().begin, text);
        return;
      }
      case kEnd:
        bytes_.resize(below(bytes_.size() + 1));
        return;
      case kOther: {
        const std::string& other = any_file();
        const Part part = any_part(other, 512);
        return replace(any_part(bytes_, 512), other.substr(part.begin, part.length));
      }
      case kDeep:
        return replace(any_part(bytes_, 1), std::string(1 + below(20000), "[{(-, "[below(6)]));
      case kNul:
        return replace(any_part(bytes_, 1), std::string_view("\0", 1));
      default:
        return;
    }
  }

  void replace(Part part, std::string_view with) { bytes_.replace(part.begin, part.length, with); }

  const std::vector<std::string>& files_;
  RandomStream& random_;
  std::string bytes_;
};

}  // namespace

std::string damaged(const std::vector<std::string>& files, RandomStream& random) {
  return Damage(files, random).result();
}

}  // namespace windtunnel
