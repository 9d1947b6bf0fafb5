// The place in a job of a process that a launcher started, as the launcher tells it in the
// environment: torchrun (RANK, WORLD_SIZE, MASTER_ADDR, MASTER_PORT: pytorch.org/docs/stable/
// elastic/run.html), Open MPI's mpirun (OMPI_COMM_WORLD_RANK: docs.open-mpi.org), MPICH and others
// that speak PMI (PMI_RANK, PMI_SIZE), Slurm's srun (SLURM_PROCID: slurm.schedmd.com/srun.html).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace windtunnel {

struct RankPlace {
  int rank = 0;
  int ranks = 1;
  std::string host;  // where rank 0 listens; empty: there is no other rank
  int port = 0;
  std::string job;  // what other jobs on these hosts are called otherwise; empty: not known
};

// As std::getenv: null where a variable is not set.
using Environment = std::function<const char*(const char*)>;

// None: no launcher started this process, or one that runs it once. `coordinator`, "HOST" or
// "HOST:PORT" where rank 0 listens, goes before what the environment tells. Throws Error when
// variables hold no numbers or no place, or where rank 0 listens cannot be told.
std::optional<RankPlace> launched_place(const Environment& environment,
                                        const std::string& coordinator);

// A job's name in a word (FNV-1a), the same on every host.
std::uint64_t job_word(const std::string& job);

// "node[007-012,20]-ib,other" -> "node007-ib": the first host of a list as Slurm writes them.
std::string first_host(const std::string& list);

}  // namespace windtunnel
