RESULTS=/results
uv run python scripts/performance/setup_experiment.py \
  --account my_account \
  --partition batch \
  --log_dir ${RESULTS} \
  --model_family_name llama \
  --model_recipe_name llama3_70b \
  --gpu h100 \
  --num_gpus 64 \
  --gpus_per_node 8 \
  --compute_dtype fp8_cs \
  -tp 4 -pp 8 -cp 1 -vp 5 \
  -gb 256 -mb 1 -sl 8192 \
  --max_steps 50
