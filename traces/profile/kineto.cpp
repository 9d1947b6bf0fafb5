#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "models/base/error.hpp"
#include "traces/profile/packed_file.hpp"
#include "traces/profile/profile_events.hpp"
#include "traces/profile/profile_reader.hpp"

namespace windtunnel {
namespace {

// The object or list in which the reader is.
enum class Zone : std::uint8_t {
  file,
  skipped,
  distributed,  // distributedInfo
  group_list,   // pg_config within it
  group,        // an item of pg_config
  group_ranks,  // "ranks" of a group
  device_list,  // deviceProperties
  device,
  event_list,  // traceEvents
  event,
  arguments,
};

enum class Field : std::uint8_t {
  unknown,
  distributed,
  devices,
  events,
  rank,
  ranks,
  groups,
  group_name,
  group_axis,
  members,
  name,
  phase,
  category,
  start,
  duration,
  arguments,
  correlation,
  stream,
  device,
  thread,
  collective,
  element_type,
  elements,
  group_size,
  group_members,
  source,
  destination,
};

struct Key {
  Zone zone;
  std::string_view name;
  Field field;
};

constexpr Key kKeys[] = {
    {Zone::file, "distributedInfo", Field::distributed},
    {Zone::file, "deviceProperties", Field::devices},
    {Zone::file, "traceEvents", Field::events},
    {Zone::distributed, "rank", Field::rank},
    {Zone::distributed, "world_size", Field::ranks},
    {Zone::distributed, "pg_config", Field::groups},
    {Zone::group, "pg_name", Field::group_name},
    {Zone::group, "pg_desc", Field::group_axis},
    {Zone::group, "ranks", Field::members},
    {Zone::device, "name", Field::name},
    {Zone::event, "ph", Field::phase},
    {Zone::event, "cat", Field::category},
    {Zone::event, "name", Field::name},
    {Zone::event, "ts", Field::start},
    {Zone::event, "dur", Field::duration},
    {Zone::event, "args", Field::arguments},
    // "tid" is the host's thread; in events of the GPU it is a stream and is not used.
    {Zone::event, "tid", Field::thread},
    {Zone::arguments, "correlation", Field::correlation},
    {Zone::arguments, "stream", Field::stream},
    {Zone::arguments, "device", Field::device},
    {Zone::arguments, "Collective name", Field::collective},
    {Zone::arguments, "dtype", Field::element_type},
    {Zone::arguments, "In msg nelems", Field::elements},
    {Zone::arguments, "Out msg nelems", Field::elements},
    {Zone::arguments, "Group size", Field::group_size},
    {Zone::arguments, "Process Group Name", Field::group_name},
    {Zone::arguments, "Process Group Description", Field::group_axis},
    {Zone::arguments, "Process Group Ranks", Field::group_members},
    {Zone::arguments, "Src Rank", Field::source},
    {Zone::arguments, "Dst Rank", Field::destination},
};

constexpr std::size_t kDeepest = 1000;

// Receives the parts of the file from the parser (nlohmann's json_sax_t). Throws Error without a
// location.
class KinetoHandler {
 public:
  using Json = nlohmann::json;

  explicit KinetoHandler(PackedFile& file) : file_(file) {}

  bool null() { return true; }
  bool boolean(bool) { return scalar("true or false"); }
  bool number_integer(std::int64_t value) { return number(double(value), value); }
  bool number_unsigned(std::uint64_t value) {
    const bool fits = std::in_range<std::int64_t>(value);
    return number(double(value), fits ? static_cast<std::int64_t>(value) : -1);
  }
  bool number_float(double value, const std::string&) {
    const bool whole = std::abs(value) < 1e18 && value == std::floor(value);
    return number(value, whole ? static_cast<std::int64_t>(value) : -1);
  }
  bool string(std::string& text) {
    take_text(text);
    field_ = Field::unknown;
    return true;
  }
  bool binary(Json::binary_t&) { return true; }

  bool key(std::string& name) {
    file_.mark();
    field_ = Field::unknown;
    const Zone zone = zones_.back();
    if (zone == Zone::skipped) return true;
    for (const Key& known : kKeys) {
      if (known.zone == zone && known.name == name) field_ = known.field;
    }
    return true;
  }
  bool start_object(std::size_t) {
    if (zones_.empty()) {
      enter(Zone::file);
    } else if (zones_.back() == Zone::event_list) {
      event_ = {};
      enter(Zone::event);
    } else if (zones_.back() == Zone::group_list) {
      group_ = {};
      enter(Zone::group);
    } else if (zones_.back() == Zone::device_list) {
      enter(Zone::device);
    } else {
      enter(field_ == Field::distributed ? Zone::distributed
            : field_ == Field::arguments ? Zone::arguments
                                         : Zone::skipped);
    }
    return true;
  }
  bool end_object() {
    const Zone zone = zones_.back();
    zones_.pop_back();
    field_ = Field::unknown;
    if (zone == Zone::event) made_.add(event_);
    if (zone == Zone::group) made_.add_group(std::move(group_));
    return true;
  }
  bool start_array(std::size_t) {
    if (zones_.empty()) {
      has_events_ = true;
      enter(Zone::event_list);  // other programs write the list of events alone
      return true;
    }
    has_events_ = has_events_ || field_ == Field::events;
    enter(field_ == Field::events    ? Zone::event_list
          : field_ == Field::devices ? Zone::device_list
          : field_ == Field::groups  ? Zone::group_list
          : field_ == Field::members ? Zone::group_ranks
                                     : Zone::skipped);
    return true;
  }
  bool end_array() {
    zones_.pop_back();
    field_ = Field::unknown;
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const Json::exception& exception) {
    const bool large = dynamic_cast<const Json::out_of_range*>(&exception) != nullptr;
    throw Error(large ? "a number is too large"
                      : "the JSON is broken here: cut short, or not written by PyTorch's profiler");
  }

  // Throws Error without a location if the file contains no events.
  RankProfile take() {
    if (!has_events_)
      throw Error("has no list 'traceEvents': is it a trace of PyTorch's profiler?");
    return made_.take();
  }

 private:
  void enter(Zone zone) {
    file_.mark();
    if (zones_.size() >= kDeepest)
      throw Error(fmt::format("lists are nested too deeply, {} levels", kDeepest));
    zones_.push_back(zone);
    field_ = Field::unknown;
  }

  bool scalar(const char* what) {
    if (field_ != Field::unknown) wrong(what);
    return true;
  }

  [[noreturn]] void wrong(const std::string& value) const {
    for (const Key& known : kKeys) {
      if (known.zone == zones_.back() && known.field == field_) {
        throw Error(fmt::format("'{}' is {}", known.name, value));
      }
    }
    throw Error(fmt::format("{} instead of another type", value));
  }

  // `whole` is the number, or -1 if it is negative or not whole.
  bool number(double value, std::int64_t whole) {
    if (zones_.empty()) throw Error("a number is not a trace");
    if (zones_.back() == Zone::group_ranks) {
      if (whole < 0 || !std::in_range<RankId>(whole)) wrong(fmt::format("{}, no rank", value));
      group_.ranks.push_back(static_cast<RankId>(whole));
      return true;
    }
    take_number(value, whole);
    field_ = Field::unknown;
    return true;
  }

  void take_number(double value, std::int64_t whole) {
    switch (field_) {
      case Field::start:
        event_.start_us = value;
        break;
      case Field::duration:
        event_.duration_us = value;
        if (value < 0) wrong(fmt::format("{} microseconds", value));
        break;
      case Field::correlation:
        event_.correlation = whole;
        break;
      case Field::stream:
        event_.stream = whole;
        break;
      case Field::device:
        event_.device = whole;
        break;
      case Field::thread:
        event_.thread = whole;
        break;
      case Field::elements:
        event_.elements = std::max(event_.elements, whole);
        break;
      case Field::group_size:
        event_.group_size = whole;
        break;
      case Field::source:
        event_.source = whole;
        break;
      case Field::destination:
        event_.destination = whole;
        break;
      case Field::rank:
      case Field::ranks:
        take_rank(value, whole);
        break;
      case Field::name:
      case Field::phase:
      case Field::category:
        wrong(fmt::format("{}, not a text", value));
      case Field::group_name:
        (zones_.back() == Zone::group ? group_.name : event_.group) = fmt::format("{}", whole);
        break;
      default:
        break;
    }
  }

  void take_rank(double value, std::int64_t whole) {
    if (whole < 0 || whole > kMostRanks) wrong(fmt::format("{}", value));
    (field_ == Field::rank ? made_.profile.rank : made_.profile.ranks) = static_cast<int>(whole);
  }

  void take_text(std::string& text) {
    switch (field_) {
      case Field::name:
        if (zones_.back() == Zone::event) event_.name = std::move(text);
        if (zones_.back() == Zone::device && made_.profile.gpu.empty()) {
          made_.profile.gpu = std::move(text);
        }
        break;
      case Field::phase:
        event_.complete = text == "X";
        break;
      case Field::category:
        event_.kind = kind_of_category(text);
        break;
      case Field::collective:
        event_.collective = std::move(text);
        break;
      case Field::element_type:
        event_.element_type = std::move(text);
        break;
      case Field::group_name:
        (zones_.back() == Zone::group ? group_.name : event_.group) = std::move(text);
        break;
      case Field::group_axis:
        (zones_.back() == Zone::group ? group_.axis : event_.group_axis) = std::move(text);
        break;
      case Field::group_members:
        event_.group_ranks = std::move(text);
        break;
      case Field::start:
      case Field::duration:
      case Field::rank:
      case Field::ranks:
        wrong("a text, not a number");
      case Field::correlation:
      case Field::thread:
      case Field::stream:
      case Field::device:
        take_digits(text);
        break;
      default:
        break;
    }
  }

  // Earlier versions of PyTorch write these numbers as strings.
  void take_digits(const std::string& text) {
    std::int64_t value = -1;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec == std::errc()) take_number(double(value), value);
  }

  PackedFile& file_;
  std::vector<Zone> zones_;
  Field field_ = Field::unknown;
  ProfileEvent event_;
  ProcessGroup group_;
  ProfileMaker made_;
  bool has_events_ = false;
};

}  // namespace

RankProfile read_kineto(const std::string& path) {
  PackedFile file(path);
  KinetoHandler handler(file);
  try {
    KinetoHandler::Json::sax_parse(PackedBytes(file), PackedBytes(), &handler);
  } catch (const Error& error) {
    if (!error.where().file.empty()) throw;
    throw Error(file.place(), std::string(error.text()));
  }
  try {
    RankProfile profile = handler.take();
    profile.file = path;
    return profile;
  } catch (const Error& error) {
    throw Error(Location{path}, std::string(error.text()));
  }
}

}  // namespace windtunnel
