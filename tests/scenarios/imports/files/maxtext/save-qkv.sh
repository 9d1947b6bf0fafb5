python3 -m MaxText.train base.yml model_name=llama3.1-70b per_device_batch_size=2 max_target_length=8192 \
  remat_policy=save_qkv_proj quantization=fp8 hardware=gpu_multiprocess attention=cudnn_flash_te \
  ici_fsdp_parallelism=8 dcn_fsdp_parallelism=16 optimizer_memory_host_offload=true
