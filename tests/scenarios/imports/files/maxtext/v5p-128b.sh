set -e
export EXECUTABLE="train" # or train_compile
if [ -n "$RUN_NAME" ];
then
    export M_RUN_NAME=$RUN_NAME
fi
python3 -m maxtext.trainers.pre_train.$EXECUTABLE base.yml\
    steps=15 per_device_batch_size=1 enable_checkpointing=false\
    remat_policy=minimal global_parameter_scale=128\
    ici_fsdp_parallelism=-1 ici_tensor_parallelism=8\
    max_target_length=2048 base_output_directory=$OUTPUT_PATH\
    attention='flash' quantization=""
