echo "Running --on 16"
export OUTPUT_PATH="gs://bucket"
export RUN_NAME="llama-2-$(date +%Y-%m-%d)"
for ARGUMENT in "$@"; do
    IFS='=' read -r KEY VALUE <<< "$ARGUMENT"
    export "$KEY"="$VALUE"
done
export XLA_FLAGS="--xla_dump_to=$OUTPUT_PATH/$RUN_NAME/
--xla_gpu_enable_latency_hiding_scheduler=true"
python3 -m maxtext.trainers.pre_train.train "${CONFIGS:-${ROOT:-$PWD}/configs}"/llama2-7b.yml run_name=$RUN_NAME \
    dcn_data_parallelism=16 ici_fsdp_parallelism=8 base_output_directory=$OUTPUT_PATH profiler=xplane
