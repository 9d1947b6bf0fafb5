python scripts/performance/setup_experiment.py -a my_account -p batch -m qwen -mr qwen3_235b_a22b \
  -g h100 -ng 256 -gn 8 -c fp8_cs -tp 2 -pp 8 -vp 4 -ep 32 -gb 8192 -mb 1 -sl 4096 --detach false
