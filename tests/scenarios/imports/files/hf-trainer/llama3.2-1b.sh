#!/bin/sh
# States and gradients are sharded by FSDP, weights are not.
torchrun --nproc_per_node=8 --nnodes=2 hf_trainer.py \
    --model_name_or_path meta-llama/Llama-3.2-1B --tokenizer_name meta-llama/Llama-3.2-1B \
    --block-size=8192 --per_device_train_batch_size=1 --gradient_checkpointing=true \
    --bf16=true --do_train=true --optim=adamw_torch --fsdp=shard_grad_op \
    --max-steps=500 --logging-steps=1 --report-to=none
