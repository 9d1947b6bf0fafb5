MODEL=meta-llama/Llama-2-7b-hf
deepspeed --num_gpus=8 run_clm.py --model_name_or_path "$MODEL" --block_size=2048 \
    --per_device_train_batch_size=1 --gradient_accumulation_steps=16 --optim adamw_bnb_8bit \
    --gradient_checkpointing --bf16 --deepspeed configs/zero2-auto.json --torch_dtype bfloat16
