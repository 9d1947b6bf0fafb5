#!/bin/bash
# Half a sequence for each chip, of which 16 share one.
python3 -m maxtext.trainers.pre_train.train base.yml model_name=gpt3-175b \
  steps=15 per_device_batch_size=0.5 remat_policy=full \
  ici_fsdp_parallelism=-1 ici_tensor_parallelism=16 max_target_length=2048
