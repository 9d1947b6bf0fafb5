#!/bin/bash
# Llama 3 70B with Megatron-LM, as a launch script says it.
#SBATCH --nodes=16
#SBATCH --gres=gpu:8

RUN=(--nproc_per_node 8 --nnodes $SLURM_NNODES --master_addr $MASTER_ADDR)
MODEL=(
    --num-layers 80 --hidden-size 8192 --ffn-hidden-size 28672
    --num-attention-heads 64 --group-query-attention --num-query-groups 8
    --seq-length 8192 --max-position-embeddings 8192 --vocab-size 128256
    --swiglu --normalization RMSNorm --position-embedding-type rope
    --disable-bias-linear --untie-embeddings-and-output-weights
    --hidden-dropout 0.0 --attention-dropout 0.0
)
LAYOUT=(
    --tensor-model-parallel-size ${TP:-8} --sequence-parallel
    --pipeline-model-parallel-size ${PP:-4} --num-layers-per-virtual-pipeline-stage 5
    --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather
)
STEP=(--micro-batch-size 1 --global-batch-size 512 --bf16 --lr 1.5e-4 --clip-grad 1.0)

torchrun "${RUN[@]}" pretrain_gpt.py "${MODEL[@]}" "${LAYOUT[@]}" "${STEP[@]}" \
    --save checkpoints --save-interval 500 --log-interval 10
