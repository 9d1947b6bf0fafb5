#!/bin/bash
OUTPUT=./output_66b
mkdir -p $OUTPUT
deepspeed main.py \
   --data_path Dahoas/rm-static \
   --data_split 2,4,4 \
   --model_name_or_path facebook/opt-66b \
   --per_device_train_batch_size 4 \
   --max_seq_len 512 \
   --gradient_accumulation_steps 1 \
   --num_warmup_steps 0 \
   --gradient_checkpointing \
   --zero_stage 3 \
   --lora_dim 128 \
   --lora_module_name decoder.layers. \
   --deepspeed \
   --output_dir $OUTPUT
