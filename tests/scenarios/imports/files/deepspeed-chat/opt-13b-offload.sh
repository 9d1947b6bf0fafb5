deepspeed main.py --model_name_or_path facebook/opt-13b --per_device_train_batch_size 4 --max_seq_len 512 \
  --gradient_accumulation_steps 1 --gradient_checkpointing --zero_stage 3 --offload --deepspeed
