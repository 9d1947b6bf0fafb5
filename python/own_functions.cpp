#include "python/own_functions.hpp"

#include <pybind11/stl.h>

#include "python/callback.hpp"

namespace py = pybind11;

namespace windtunnel_python {
namespace {

windtunnel::Pass pass_of(const std::string& letter) {
  if (letter == "F") return windtunnel::Pass::forward;
  if (letter == "B") return windtunnel::Pass::backward;
  if (letter == "I") return windtunnel::Pass::backward_input;
  if (letter == "W") return windtunnel::Pass::backward_weight;
  throw py::value_error(
      "the pass of an action must be 'F' (forward), 'B' (backward), 'I' (gradient of the input) or "
      "'W' (gradient of the weights), not '" +
      letter + "'");
}

using PythonAction = std::tuple<std::string, int, int>;  // pass, stage, micro-batch

// A pair of an order and the rank of each stage; an order itself may be a tuple, too.
bool says_ranks(const py::object& made) {
  if (!py::isinstance<py::tuple>(made) || py::len(made) != 2) return false;
  const py::object second = made.cast<py::tuple>()[1];
  return py::isinstance<py::sequence>(second) && py::len(second) > 0 &&
         py::isinstance<py::int_>(second[py::int_(0)]);
}

windtunnel::Schedule schedule_of(py::object made) {
  windtunnel::Schedule schedule;
  if (says_ranks(made)) {
    const auto pair = made.cast<std::pair<py::object, std::vector<int>>>();
    schedule.rank_of_stage = pair.second;
    made = pair.first;
  }
  for (const auto& rank : made.cast<std::vector<std::vector<PythonAction>>>()) {
    std::vector<windtunnel::Action>& actions = schedule.actions.emplace_back();
    for (const auto& [pass, stage, microbatch] : rank) {
      actions.push_back({pass_of(pass), stage, microbatch});
    }
  }
  return schedule;
}

constexpr std::pair<std::string_view, windtunnel::Collective> kCollectives[] = {
    {"all-reduce", windtunnel::Collective::all_reduce},
    {"reduce-scatter", windtunnel::Collective::reduce_scatter},
    {"all-gather", windtunnel::Collective::all_gather},
    {"all-to-all", windtunnel::Collective::all_to_all},
    {"send-recv", windtunnel::Collective::send_recv},
};
constexpr std::pair<std::string_view, windtunnel::ReduceHop> kHops[] = {
    {"all", windtunnel::ReduceHop::all},
    {"node", windtunnel::ReduceHop::node},
    {"across", windtunnel::ReduceHop::across},
};

template <class Names, class Value>
std::string_view name_in(const Names& names, Value value) {
  for (const auto& [name, known] : names) {
    if (known == value) return name;
  }
  return {};
}

windtunnel::Collective collective_of(const std::string& name) {
  for (const auto& [known, collective] : kCollectives) {
    if (name == known) return collective;
  }
  throw py::value_error(
      "a collective must be 'all-reduce', 'reduce-scatter', 'all-gather', 'all-to-all' or "
      "'send-recv', not '" +
      name + "'");
}

windtunnel::ReduceHop hop_of(const std::string& name) {
  for (const auto& [known, hop] : kHops) {
    if (name == known) return hop;
  }
  throw py::value_error(
      "a hop must be 'all' (all members), 'node' (members of a node) or 'across' (members with the "
      "same position in their nodes), not '" +
      name + "'");
}

void bind_kernel(py::module_& module) {
  using windtunnel::Kernel;
  py::class_<Kernel>(module, "Kernel",
                     "A kernel on the GPU, or ``starts`` equal kernels in a row: what it reads and "
                     "writes in GPU memory, and what it computes. Its time follows from measured "
                     "kernels of the calibration if there are any, otherwise from a roofline.")
      .def(py::init([](double bytes, double flops, double starts, double launches, std::string like,
                       std::string law, std::string next_law) {
             return Kernel{.bytes = bytes,
                           .flops = flops,
                           .starts = starts,
                           .launches = launches,
                           .like = std::move(like),
                           .law = std::move(law),
                           .next_law = std::move(next_law)};
           }),
           py::arg("bytes"), py::kw_only(), py::arg("flops") = 0, py::arg("starts") = 1,
           py::arg("launches") = 0, py::arg("like") = "", py::arg("law") = "",
           py::arg("next_law") = "")
      .def_readwrite("bytes", &Kernel::bytes, "Bytes of HBM that it reads and writes.")
      .def_readwrite("flops", &Kernel::flops, "Floating-point operations that it executes.")
      .def_readwrite("starts", &Kernel::starts, "Number of equal kernels, one after the other.")
      .def_readwrite("launches", &Kernel::launches,
                     "Launches by the host; 0: as many as ``starts``.")
      .def_readwrite("like", &Kernel::like,
                     "The compressor kernel of the library whose share of the memory bandwidth it "
                     "reaches; empty: the full bandwidth.")
      .def_readwrite("law", &Kernel::law, "The measured kernel that gives its time; empty: none.")
      .def_readwrite("next_law", &Kernel::next_law,
                     "A second measured kernel after it, if it needs two.")
      .def_readwrite("m", &Kernel::m, "For :func:`product`: rows of the first matrix.")
      .def_readwrite("n", &Kernel::n, "For :func:`product`: columns of the second matrix.")
      .def_readwrite("k", &Kernel::k, "For :func:`product`: length of the sums.")
      .def_readwrite("count", &Kernel::count, "For :func:`product`: number of products.");
  module.def("product", &windtunnel::product, py::arg("like"), py::arg("m"), py::arg("n"),
             py::arg("k"), py::arg("count"), py::arg("element_bytes"),
             "The :class:`Kernel` of ``count`` products of an m x k by a k x n matrix.");
}

void bind_recipe(py::module_& module) {
  using windtunnel::Kernel;
  using windtunnel::Recipe;
  using windtunnel::RecipeStep;
  py::class_<RecipeStep>(module, "RecipeStep",
                         "Kernels in order, followed by a collective that waits for them. With 0 "
                         "bytes there is no collective, as in the last step, which decodes.")
      .def(py::init([](std::vector<Kernel> kernels, const std::string& collective, double bytes,
                       const std::string& hop, double every) {
             return RecipeStep{.kernels = std::move(kernels),
                               .collective = collective_of(collective),
                               .bytes = bytes,
                               .hop = hop_of(hop),
                               .every = every};
           }),
           py::arg("kernels"), py::arg("collective") = "all-reduce", py::arg("bytes") = 0,
           py::kw_only(), py::arg("hop") = "all", py::arg("every") = 1)
      .def_readwrite("kernels", &RecipeStep::kernels, "A list of :class:`Kernel`.")
      .def_property_readonly(
          "collective",
          [](const RecipeStep& step) { return name_in(kCollectives, step.collective); },
          "Name of the collective, as given.")
      .def_property_readonly(
          "hop", [](const RecipeStep& step) { return name_in(kHops, step.hop); },
          "Which members take part, as given.")
      .def_readwrite("bytes", &RecipeStep::bytes,
                     "Bytes of the full buffer; for an all-gather those of all members together.")
      .def_readwrite("every", &RecipeStep::every,
                     "The step runs once in this number of iterations.");
  py::class_<Recipe>(module, "Recipe", "What a GPU does for one buffer of gradients.")
      .def(py::init([](std::vector<RecipeStep> steps, double state_bytes, double buffer_bytes) {
             return Recipe{std::move(steps), state_bytes, buffer_bytes};
           }),
           py::arg("steps"), py::kw_only(), py::arg("state_bytes") = 0, py::arg("buffer_bytes") = 0)
      .def_readwrite("steps", &Recipe::steps, "A list of :class:`RecipeStep`.")
      .def_readwrite("state_bytes", &Recipe::state_bytes,
                     "Bytes kept from iteration to iteration: errors, factors.")
      .def_readwrite("buffer_bytes", &Recipe::buffer_bytes,
                     "Bytes in addition to the gradients while the buffer is being reduced.");
}

}  // namespace

windtunnel::ScheduleGenerator generator_of(const std::string& name, py::function generate) {
  return [what = "schedule '" + name + "'",
          function = shared(std::move(generate))](const windtunnel::ScheduleRequest& request) {
    const py::gil_scoped_acquire acquired;
    const py::object made = call(what, *function, request);
    try {
      return schedule_of(made);
    } catch (const py::cast_error&) {
      fail_returned(what, "for each rank a list of (pass, stage, micro-batch)", made);
    }
  };
}

void bind_schedule(py::module_& module) {
  py::class_<windtunnel::StageWork>(module, "StageWork", "A stage's work on one micro-batch.")
      .def_readonly("forward_s", &windtunnel::StageWork::forward_s, "Seconds of the forward pass.")
      .def_readonly("backward_input_s", &windtunnel::StageWork::backward_input_s,
                    "Seconds of the gradient of the input, including recomputation.")
      .def_readonly("backward_weight_s", &windtunnel::StageWork::backward_weight_s,
                    "Seconds of the gradient of the weights.")
      .def_readonly("activation_bytes", &windtunnel::StageWork::activation_bytes,
                    "Bytes kept from the forward to the end of the backward.");
  py::class_<windtunnel::ScheduleRequest>(module, "ScheduleRequest", "What a schedule is made for.")
      .def_readonly("ranks", &windtunnel::ScheduleRequest::ranks,
                    "Ranks of the pipeline, ``layout.pp``.")
      .def_readonly("microbatches", &windtunnel::ScheduleRequest::microbatches,
                    "Micro-batches of an iteration.")
      .def_readonly("chunks", &windtunnel::ScheduleRequest::chunks,
                    "Stages per rank, ``layout.vpp``.")
      .def_readonly("group", &windtunnel::ScheduleRequest::group,
                    "``schedule.group``; 0 if the scenario does not set it.")
      .def_readonly("memory_limit", &windtunnel::ScheduleRequest::memory_limit,
                    "Bytes of memory that a rank has for activations.")
      .def_readonly("message_s", &windtunnel::ScheduleRequest::message_s,
                    "Seconds of a message from one rank to the next.")
      .def_readonly("stages", &windtunnel::ScheduleRequest::stages,
                    "A :class:`StageWork` for each of ``ranks * chunks`` stages.");
}

std::function<windtunnel::Recipe(const windtunnel::CompressorRequest&)> recipe_of(
    const std::string& name, py::function recipe) {
  return [what = "compressor '" + name + "'",
          function = shared(std::move(recipe))](const windtunnel::CompressorRequest& request) {
    const py::gil_scoped_acquire acquired;
    const py::object made = call(what, *function, request);
    if (!py::isinstance<windtunnel::Recipe>(made)) {
      fail_returned(what, "a windtunnel.Recipe", made);
    }
    return made.cast<windtunnel::Recipe>();
  };
}

void bind_compressor(py::module_& module) {
  using windtunnel::CompressorRequest;
  using windtunnel::GradientTensor;
  py::class_<GradientTensor>(
      module, "GradientTensor",
      "A gradient as a rank holds it, or ``count`` gradients of the same shape.")
      .def_readonly("rows", &GradientTensor::rows, "0: a vector (bias, norm).")
      .def_readonly("columns", &GradientTensor::columns, "Elements of a row.")
      .def_readonly("count", &GradientTensor::count, "Number of such gradients.")
      .def_readonly("filled", &GradientTensor::filled,
                    "Share of the rows that are not zero (embeddings).")
      .def_property_readonly("elements", &GradientTensor::elements,
                             "Elements of all gradients together.");
  py::class_<CompressorRequest>(module, "CompressorRequest",
                                "What a recipe is made for: one buffer of gradients.")
      .def_readonly("tensors", &CompressorRequest::tensors, "A list of :class:`GradientTensor`.")
      .def_property_readonly("elements", &CompressorRequest::elements, "Of all tensors.")
      .def_readonly("ranks", &CompressorRequest::ranks, "Members that reduce the buffer.")
      .def_readonly("nodes", &CompressorRequest::nodes, "Number of nodes with these members.")
      .def_readonly("element_bytes", &CompressorRequest::element_bytes, "Bytes of an element.")
      .def_readonly("numbers", &CompressorRequest::numbers,
                    "The numbers of the compressor, as the scenario states them.")
      .def_readonly("feedback", &CompressorRequest::feedback,
                    "'none', 'ef', 'ef21' or 'econtrol', as the scenario states it.");
  bind_kernel(module);
  bind_recipe(module);
}

windtunnel::SavingRule rule_of(const std::string& name, py::function rule) {
  return [what = "saving rule '" + name + "'",
          function = shared(std::move(rule))](const windtunnel::SavingMoment& moment) {
    const py::gil_scoped_acquire acquired;
    const py::object said = call(what, *function, moment);
    try {
      return said.cast<double>();
    } catch (const py::cast_error&) {
      fail_returned(what, "seconds until the next snapshot, a number", said);
    }
  };
}

void bind_saving_rule(py::module_& module) {
  using windtunnel::SavingMoment;
  py::class_<SavingMoment>(
      module, "SavingMoment",
      "What a saving rule gets to know. Times are those of the simulated campaign.")
      .def_readonly("tier", &SavingMoment::tier,
                    "Index of the tier in the scenario's snapshots, from 0.")
      .def_readonly("trial", &SavingMoment::trial, "Number of the trial in the campaign, from 0.")
      .def_readonly("now_s", &SavingMoment::now_s, "Seconds since the campaign began.")
      .def_readonly("training_s", &SavingMoment::training_s, "Seconds since training last started.")
      .def_readonly("iteration", &SavingMoment::iteration, "The next iteration to run.")
      .def_readonly("iteration_s", &SavingMoment::iteration_s,
                    "Seconds of an iteration without a snapshot, on the nodes that are available.")
      .def_readonly("stall_s", &SavingMoment::stall_s,
                    "Seconds by which a snapshot of this tier makes an iteration longer.")
      .def_readonly("complete_s", &SavingMoment::complete_s,
                    "Seconds from the start of a snapshot until it can be restored.")
      .def_readonly("restore_s", &SavingMoment::restore_s, "Seconds to read the snapshot back.")
      .def_readonly(
          "failures", &SavingMoment::failures,
          "Number of unexpected failures so far, including those that do not stop the job.")
      .def_readonly(
          "mtbf_s", &SavingMoment::mtbf_s,
          "Mean seconds between such failures by the scenario's rates; infinite: there are none.");
}

}  // namespace windtunnel_python
