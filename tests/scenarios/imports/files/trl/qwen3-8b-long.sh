accelerate launch --config_file context-parallel.yaml sft.py \
    --model_name_or_path Qwen/Qwen3-8B \
    --dataset_name trl-lib/long \
    --per_device_train_batch_size 1 \
    --gradient_accumulation_steps 1 \
    --max_length 1048576 \
    --bf16 True \
    --gradient_checkpointing True
