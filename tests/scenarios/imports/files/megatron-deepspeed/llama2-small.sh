#!/bin/bash
TP=2
PP=2
ZERO_STAGE=0
PER_NODE=8
NNODES=1
KV_HEADS=4
MICRO=4
GLOBAL=32
checkpoint="false"
WANDB=0
WANDB_ARGS=
if [ $WANDB -eq 1 ]
then
WANDB_ARGS="\
       --wandb-project pretrain \
       "
fi
ds_args=""
ds_args=" --deepspeed ${ds_args}"
ds_args=" --zero-stage=$ZERO_STAGE ${ds_args}"
if [ "${checkpoint}" = "true" ]; then
  ds_args="--recompute-granularity full --recompute-method uniform ${ds_args}"
fi
RUN="--nproc_per_node $PER_NODE --nnodes $NNODES --node_rank 0"
torchrun $RUN \
       pretrain_gpt.py \
       --tensor-model-parallel-size $TP \
       --pipeline-model-parallel-size $PP \
       --num-layers 24 \
       --hidden-size 2048 \
       --ffn-hidden-size 5504 \
       --num-attention-heads 16 \
       --micro-batch-size $MICRO \
       --global-batch-size $GLOBAL \
       --seq-length 2048 \
       --max-position-embeddings 2048 \
       --tokenizer-type GPTSentencePieceTokenizer \
       --bf16 \
       --attention-dropout 0 \
       --hidden-dropout 0 \
       --use-rotary-position-embeddings \
       --untie-embeddings-and-output-weights \
       --swiglu \
       --normalization rmsnorm \
       --disable-bias-linear \
       --num-key-value-heads $KV_HEADS \
       $WANDB_ARGS \
       $ds_args
