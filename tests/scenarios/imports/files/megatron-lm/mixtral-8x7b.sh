#!/bin/bash
GPUS=8
HOSTS=${SLURM_NNODES:-"1"}
RUN=(--nproc_per_node $GPUS --nnodes $HOSTS --master_port ${MASTER_PORT:-"29500"})
MODEL=(
    --disable-bias-linear
    --seq-length 4096 --max-position-embeddings 32768
    --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336 --num-attention-heads 32
    --attention-dropout 0.0 --hidden-dropout 0.0
    --normalization RMSNorm --position-embedding-type rope --swiglu
    --untie-embeddings-and-output-weights
    --group-query-attention --num-query-groups 8
)
EXPERTS=(
    --num-experts 8
    --moe-router-topk 2
    --moe-aux-loss-coeff 1e-2
    --moe-grouped-gemm
    --moe-token-dispatcher-type alltoall
    --overlap-param-gather
    --overlap-grad-reduce
)
STEP=(--micro-batch-size 1 --global-batch-size 256 --bf16 --tokenizer-type Llama2Tokenizer)
RANKS=(
    --tensor-model-parallel-size 1
    --pipeline-model-parallel-size 4
    --expert-model-parallel-size 8
    --use-distributed-optimizer
    --sequence-parallel
)
LOG=(--log-interval 1 \
     --save-interval 10000 \
     --tensorboard-dir "${OUT}/tensorboard" \
     --no-load-optim)
if [ -n "${WANDB_API_KEY}" ]; then
    LOG+=(--wandb-project ${WANDB_PROJECT:-"Mixtral"})
fi
torchrun ${RUN[@]} pretrain_gpt.py ${MODEL[@]} ${EXPERTS[@]} ${STEP[@]} ${RANKS[@]} ${LOG[@]}
