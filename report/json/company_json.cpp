#include "report/json/company_json.hpp"

#include "models/base/version.hpp"
#include "models/cost/chunk/step_work.hpp"
#include "report/json/json.hpp"

namespace windtunnel {
namespace {

Json job_json(const CompanyJob& job, bool with_timing) {
  const Job& of = job.alone.job;
  Json places = Json::array();
  for (int node = 0; node < of.cluster.nodes; ++node) places.push_back(of.cluster.place_of(node));
  return {{"scenario", job.alone.scenario},
          {"file", job.alone.source.file},
          {"nodes", places},
          {"step_s",
           {{"alone", job.alone_s()},
            {"together", job.together_s()},
            {"low", job.alone_s() * job.least_slowdown},
            {"high", job.alone_s() * job.most_slowdown}}},
          {"slowdown",
           {{"mean", job.slowdown}, {"low", job.least_slowdown}, {"high", job.most_slowdown}}},
          {"tokens_per_s",
           {{"alone", tokens_per_step(of) / job.alone_s()},
            {"together", tokens_per_step(of) / job.together_s()}}},
          {"steps", job.steps},
          {"alone", run_document(job.alone, with_timing)}};
}

}  // namespace

Json company_document(const CompanyReport& report, bool with_timing) {
  Json jobs = Json::array();
  for (const CompanyJob& job : report.jobs) jobs.push_back(job_json(job, with_timing));
  return {{"scenario", report.scenario},  {"key", report.key},
          {"version", program_version()}, {"commit", program_commit()},
          {"nodes", report.nodes},        {"placement", name_of(report.placement)},
          {"starts", report.starts},      {"jobs", jobs}};
}

}  // namespace windtunnel
