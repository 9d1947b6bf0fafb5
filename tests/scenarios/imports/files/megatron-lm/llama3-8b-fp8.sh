#!/bin/bash
export CUDA_DEVICE_MAX_CONNECTIONS=${CUDA_DEVICE_MAX_CONNECTIONS:-1}
OUT=${1:-"checkpoints/llama3_8b"}
TOKENIZER=${2:-"MOCK"}
mkdir -p "$(dirname "$OUT")"
GPUS=8
HOSTS=1
TP=1
CP=1
SEQUENCE=8192
KIND="fp8"

RUN=(--nproc_per_node $GPUS --nnodes $HOSTS --node_rank ${NODE_RANK:-0} --master_addr ${MASTER_ADDR:-localhost})
MODEL=(
    --use-mcore-models
    --num-layers 32 --hidden-size 4096 --ffn-hidden-size 14336
    --num-attention-heads 32 --group-query-attention --num-query-groups 8 --kv-channels 128
    --seq-length $SEQUENCE --max-position-embeddings $SEQUENCE
    --position-embedding-type rope --rotary-base 1000000
    --attention-dropout 0.0 --hidden-dropout 0.0
    --swiglu --normalization RMSNorm
    --attention-backend fused
    --untie-embeddings-and-output-weights
    --disable-bias-linear
)
STEP=(
    --micro-batch-size 1
    --global-batch-size 128
    --train-samples 1953125000
    --decoupled-lr 5.0e-4      # of the embeddings
    --bf16
    --grad-reduce-in-bf16
    --cross-entropy-loss-fusion
    --empty-unused-memory-level 1
)
TYPES=()
if [[ "$KIND" == "fp8" ]]; then
    TYPES+=(
        "--fp8-format hybrid"
        "--fp8-amax-history-len 1024"
        "--fp8-param-gather"
    )
elif [[ "$KIND" == "none" ]]; then
    TYPES+=("--recompute-granularity full")
fi
RANKS=(
    --tensor-model-parallel-size $TP
    --context-parallel-size $CP
    # --pipeline-model-parallel-size 4
    --sequence-parallel
)
SHARDS=(--use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather)
STEP+=("${SHARDS[@]}")
DATA=()
if [[ "$TOKENIZER" == "MOCK" ]] || [[ -z "$TOKENIZER" ]]; then
    DATA+=("--mock-data" "--tokenizer-type NullTokenizer" "--vocab-size 128256" "--split '99,1,0'")
else
    DATA+=("--tokenizer-type HuggingFaceTokenizer" "--tokenizer-model $TOKENIZER" "--vocab-size 128256")
fi
if [ ! -f pretrain_gpt.py ]; then
    echo "Error: --no-script of that name"
    exit 1
fi
torchrun ${RUN[@]} \
    pretrain_gpt.py \
    ${MODEL[@]} ${STEP[@]} ${TYPES[@]} ${RANKS[@]} ${DATA[@]} --log-interval 1
