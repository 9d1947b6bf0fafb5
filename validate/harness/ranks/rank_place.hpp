// Reads the rank and job of a launched process from the launcher's environment: torchrun (RANK,
// WORLD_SIZE, MASTER_ADDR, MASTER_PORT: pytorch.org/docs/stable/elastic/run.html), Open MPI's
// mpirun (OMPI_COMM_WORLD_RANK: docs.open-mpi.org), MPICH and others with PMI (PMI_RANK, PMI_SIZE),
// Slurm's srun (SLURM_PROCID: slurm.schedmd.com/srun.html).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace windtunnel {

struct RankPlace {
  int rank = 0;
  int ranks = 1;
  std::string host;  // where rank 0 listens; empty: this is the only rank
  int port = 0;
  std::string job;  // distinguishes it from other jobs on these hosts; empty: not known
};

// Like std::getenv: null if a variable is not set.
using Environment = std::function<const char*(const char*)>;

// Returns nothing if no launcher started this process, or a launcher that runs it only once.
// `coordinator` ("HOST" or "HOST:PORT" of rank 0) overrides the environment. Throws Error if
// variables have malformed or impossible values, or do not tell where rank 0 listens.
std::optional<RankPlace> launched_place(const Environment& environment,
                                        const std::string& coordinator);

// Returns a hash (FNV-1a) of a job's name, equal on every host.
std::uint64_t job_word(const std::string& job);

// Returns the first host in a list as Slurm writes it: "node007-ib" for
// "node[007-012,20]-ib,other".
std::string first_host(const std::string& list);

}  // namespace windtunnel
