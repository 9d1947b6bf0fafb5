python3 -m maxtext.trainers.pre_train.train base.yml model_name=own-2b per_device_batch_size=2 \
  max_target_length=2048 ici_fsdp_parallelism=8 remat_policy=full
