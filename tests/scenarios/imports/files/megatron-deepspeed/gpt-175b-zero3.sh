#!/bin/bash
set -ex
DS=ds_config.json
TP=1
PP=1
LAYERS=96
SEQ=1024
MICRO=4
NODES=1
GPN=8
GLOBAL=$(( ${GPN} * ${MICRO} * ${NODES} ))
STAGE=3
OUT=stage_${STAGE}_nl${LAYERS}_gb${GLOBAL}
mkdir -p $OUT
cat <<EOT > $DS
{
  "train_batch_size" : $GLOBAL,
  "zero_optimization": {
    "stage": 3
  }
}
EOT
ds_args=" "
ds_args=" --deepspeed ${ds_args}"
ds_args=" --no-pipeline-parallel ${ds_args}"
ds_args=" --deepspeed_config=$DS ${ds_args}"
ds_args=" --zero-stage=$STAGE ${ds_args}"
deepspeed --force_multi --num_nodes=$NODES --hostfile /job/hostfile pretrain_gpt.py \
    --tensor-model-parallel-size $TP \
    --pipeline-model-parallel-size $PP \
    --num-layers $LAYERS \
    --hidden-size 12288 \
    --num-attention-heads 96 \
    --seq-length $SEQ \
    --max-position-embeddings $SEQ \
    --micro-batch-size $MICRO \
    --global-batch-size $GLOBAL \
    --lr 6.0e-5 \
    --merge-file $BASE/gpt2-merges.txt \
    --fp16 \
    --checkpoint-activations \
    $ds_args \
    --exit-interval 5000 | tee ${OUT}/output.log
