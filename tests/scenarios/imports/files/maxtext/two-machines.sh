#!/bin/bash
# The configuration stands before the words, below a folder that a variable names.
export OUTPUT_PATH=gs://bucket
python3 -m maxtext.trainers.pre_train.train "${CONFIGS:-$PWD/configs}"/models/gpu/llama2-7b-words.yml run_name=two \
    dcn_data_parallelism=2 ici_fsdp_parallelism=8 base_output_directory=$OUTPUT_PATH
