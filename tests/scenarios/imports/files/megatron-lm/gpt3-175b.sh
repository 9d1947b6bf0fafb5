#!/bin/bash
PER_NODE=8
HOSTS=16
WORLD=$(($PER_NODE*$HOSTS))
OUT=$1
CORPUS=$2

RUN=(
    --nproc_per_node $PER_NODE
    --nnodes $HOSTS
    --master_port 29500
)
MODEL=(
    --num-layers 96
    --hidden-size 12288
    --num-attention-heads 96
    --seq-length 2048
    --max-position-embeddings 2048
    --attention-backend auto   # flash, fused, unfused
)
STEP=(
    --micro-batch-size 1
    --global-batch-size 1536
    --step-batch-size-schedule "0:16 2.4B:320 12B:1536"
    --adam-beta2 0.95
    --fp16
    --lr 6.0e-5
    --lr-warmup-fraction .001
)
RANKS=(
	--tensor-model-parallel-size 8
	--pipeline-model-parallel-size 16
)
DATA=(--data-path $CORPUS --vocab-file vocab.json --merge-file merges.txt --split 949,50,1)
LOG=(--save-interval 10000 --save $OUT --eval-iters 10)

torchrun ${RUN[@]} pretrain_gpt.py ${MODEL[@]} ${STEP[@]} \
    ${RANKS[@]} \
    ${DATA[@]} ${LOG[@]}
