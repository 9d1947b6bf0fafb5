#!/bin/bash
SIZE="800M" # or "8B"
case "${SIZE}" in
    "800M")
        TENSOR=1
        PATTERN="M-M-M--M-*M-M-M-M--*M-M-M-M-*M--M-M-M-*M-M--M-M-"
        HIDDEN=1024
        HEADS=16
        GLOBAL=32
        ;;
    "8B")
        TENSOR=4
        PATTERN="M-M-M--M-M*-M-M-M-M--M*-M-M-M-M-M*--M-M-M-M-M*-M--M-M-M-"
        HIDDEN=4096
        HEADS=32
        GLOBAL=8
        ;;
    *)
        exit 1
        ;;
esac
LENGTH=4096
options=" \
       --tensor-model-parallel-size ${TENSOR} \
       --sequence-parallel \
       --use-distributed-optimizer \
       --overlap-grad-reduce \
       --untie-embeddings-and-output-weights \
       --position-embedding-type none \
       --hybrid-layer-pattern ${PATTERN} \
       --hidden-size ${HIDDEN} \
       --num-attention-heads ${HEADS} \
       --group-query-attention \
       --num-query-groups 8 \
       --seq-length ${LENGTH} \
       --max-position-embeddings ${LENGTH} \
       --micro-batch-size 4 \
       --global-batch-size ${GLOBAL} \
       --attention-dropout 0.0 \
       --hidden-dropout 0.0 \
       --disable-bias-linear \
       --normalization RMSNorm \
       --bf16 \
       --tensorboard-dir ${LOGS}"
torchrun --nproc_per_node 8 ../pretrain.py ${options}
