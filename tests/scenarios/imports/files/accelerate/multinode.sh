#!/bin/bash
#SBATCH --nodes=4                   # number of nodes
#SBATCH --gres=gpu:4                # GPUs of one
export GPUS_PER_NODE=4
head=$(scontrol show hostnames $SLURM_JOB_NODELIST | head -n 1)
export ROOT="${ROOT:-/accelerate}"
export LAUNCHER="accelerate launch \
    --config_file ${ROOT}/slurm/fsdp.yaml \
    --num_processes $((SLURM_NNODES * GPUS_PER_NODE)) \
    --num_machines $SLURM_NNODES \
    --main_process_ip $head \
    "
export SCRIPT_ARGS=" \
    --mixed_precision fp16 \
    --output_dir ${ROOT}/output \
    "
export CMD="$LAUNCHER nlp_example.py $SCRIPT_ARGS"
srun $CMD
