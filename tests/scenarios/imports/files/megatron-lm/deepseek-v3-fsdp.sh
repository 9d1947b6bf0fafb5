#!/bin/bash
OUT=${OUT:-"your_path"}
WITH_FSDP=${WITH_FSDP:-1}
STRATEGY=${STRATEGY:-"optim_grads_params"}
PROFILE=${PROFILE:-0}
TP=${TP:-1}
EP=${EP:-8}
MBS=${MBS:-4}
GBS=${GBS:-2048}

ARGUMENTS=(
    --tensor-model-parallel-size ${TP} --expert-model-parallel-size ${EP}
    --expert-tensor-parallel-size 1 --context-parallel-size 1
    --use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather
    --sequence-parallel --use-flash-attn --disable-bias-linear
    --micro-batch-size ${MBS} --global-batch-size ${GBS}
    --recompute-granularity selective
    --recompute-modules mlp moe mla_up_proj layernorm
    --seq-length 4096 --max-position-embeddings 4096
    --tokenizer-type HuggingFaceTokenizer --tokenizer-model deepseek-ai/DeepSeek-V3
    --num-layers 61 --hidden-size 7168 --ffn-hidden-size 18432
    --num-attention-heads 128 --kv-channels 128
    --position-embedding-type rope --normalization RMSNorm --swiglu
    --untie-embeddings-and-output-weights --multi-latent-attention
    --attention-dropout 0.0 --hidden-dropout 0.0
    --num-experts 256 --moe-layer-freq [0]*3+[1]*58
    --moe-ffn-hidden-size 2048 --moe-shared-expert-intermediate-size 2048
    --moe-router-topk 8 --moe-router-group-topk 4
    --moe-token-dispatcher-type flex --moe-flex-dispatcher-backend hybridep
    --q-lora-rank 1536 --kv-lora-rank 512
    --qk-head-dim 128 --qk-pos-emb-head-dim 64 --v-head-dim 128
    --mtp-num-layers 1
    --bf16
)
if [ "${WITH_FSDP}" = 1 ]; then
    ARGUMENTS=(
        "${ARGUMENTS[@]}"
        --use-megatron-fsdp
        --data-parallel-sharding-strategy ${STRATEGY}
        --use-distributed-optimizer
        --megatron-fsdp-grad-comm-dtype bf16
        --megatron-fsdp-main-grads-dtype bf16
    )
fi
if [ "${PROFILE}" = 1 ]; then
    PROFILER="nsys profile --trace=cuda -f true -o ${OUT}/TP${TP}EP${EP}"
    ARGUMENTS=("${ARGUMENTS[@]}" --profile --profile-ranks 0)
else
    PROFILER=""
fi
COMMAND="
cd ${ROOT};
${PROFILER} python ${ROOT}/pretrain_gpt.py ${ARGUMENTS[@]}"
sbatch <<EOF
#!/bin/bash
#SBATCH --nodes=32
#SBATCH --ntasks-per-node=8
#SBATCH --gres=gpu:8
srun --mpi=pmix -l --container-workdir=${ROOT} bash -x -c "${COMMAND}" 2>&1 | tee log
EOF
