#!/bin/bash
#SBATCH --nodes=4
#SBATCH --gpus-per-node=8
# Qwen3-Next 80B-A3B: gated DeltaNet in three layers of four, attention with a gate, 512 experts.

MODEL_ARGS=(
    --num-layers 48
    --hidden-size 2048
    --ffn-hidden-size 5120
    --num-attention-heads 16
    --group-query-attention
    --num-query-groups 2
    --kv-channels 256
    --attention-output-gate
    --experimental-attention-variant gated_delta_net
    --linear-attention-freq 4
    --linear-conv-kernel-dim 4
    --linear-key-head-dim 128
    --linear-value-head-dim 128
    --linear-num-key-heads 16
    --linear-num-value-heads 32
    --swiglu
    --normalization RMSNorm
    --qk-layernorm
    --position-embedding-type rope
    --rotary-percent 0.25
    --disable-bias-linear
    --untie-embeddings-and-output-weights
    --vocab-size 151936
    --num-experts 512
    --moe-router-topk 10
    --moe-ffn-hidden-size 512
    --moe-shared-expert-intermediate-size 512
    --mtp-num-layers 1
)

torchrun --nproc_per_node 8 --nnodes 4 pretrain_gpt.py ${MODEL_ARGS[@]} \
    --tensor-model-parallel-size 2 --sequence-parallel \
    --pipeline-model-parallel-size 2 \
    --expert-model-parallel-size 8 \
    --optimizer muon \
    --micro-batch-size 1 --global-batch-size 128 --seq-length 4096 \
    --bf16
