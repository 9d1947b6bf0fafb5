torchrun --nnodes 4 --nproc_per_node=8 -m torchtitan.train --module llama3 --config llama3_8b \
  --training.num_tokens_per_microbatch_per_dp_rank 32768 --parallelism.tensor_parallel_degree 2 \
  --compile.enable
