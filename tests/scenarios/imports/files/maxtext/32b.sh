#!/bin/bash
# The model by its size in billions, words for train.py.
set -e
export EXECUTABLE="train"
python3 -m maxtext.trainers.pre_train.$EXECUTABLE "${MAXTEXT_CONFIGS_DIR:-${MAXTEXT_REPO_ROOT:-$PWD}/src/maxtext/configs}"/base.yml \
    steps=10 per_device_batch_size=6 enable_checkpointing=false \
    remat_policy=full global_parameter_scale=32 \
    ici_fsdp_parallelism=-1 ici_tensor_parallelism=4 \
    dataset_type=synthetic attention='flash' quantization=""
