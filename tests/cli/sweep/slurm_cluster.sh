#!/bin/sh
# A Slurm of one node for a test, in a folder of its own and without systemd:
#   slurm_cluster.sh start DIR    prints the line that a shell needs to talk to it
#   slurm_cluster.sh stop DIR
# Accounts are enforced (slurmdbd on a MariaDB of its own): there are the partitions short and long
# and the account windtunnel, and no other. Debian: slurm-wlm slurmdbd munge mariadb-server.
set -eu

action=$1
dir=$2
user=$(id -un)
ctld_port=17817
d_port=17818
dbd_port=17819
db_port=17820

wait_for() { # WHAT COMMAND...: for a minute
  what=$1
  shift
  end=$(($(date +%s) + 60))
  while [ "$(date +%s)" -lt "$end" ]; do
    if timeout 10 "$@" >/dev/null 2>&1; then return 0; fi
    sleep 0.5
  done
  echo "slurm_cluster.sh: $what did not come up; see $dir/*.log" >&2
  exit 1
}

stop() {
  for pid_file in slurmd slurmctld slurmdbd mariadb munged; do
    if [ -s "$dir/$pid_file.pid" ]; then kill "$(cat "$dir/$pid_file.pid")" 2>/dev/null || true; fi
    sleep 0.2
  done
}

if [ "$action" = stop ]; then
  stop
  exit 0
fi

mkdir -p "$dir/state" "$dir/spool" "$dir/db"
chmod 700 "$dir"
dd if=/dev/urandom of="$dir/munge.key" bs=128 count=1 2>/dev/null
chmod 600 "$dir/munge.key"
munged --force --key-file="$dir/munge.key" --socket="$dir/munge.socket" \
  --pid-file="$dir/munged.pid" --log-file="$dir/munged.log" --seed-file="$dir/munge.seed" \
  --num-threads=2

mariadb-install-db --no-defaults --user="$user" --datadir="$dir/db" --skip-test-db \
  --auth-root-authentication-method=normal >"$dir/mariadb.log" 2>&1
mariadbd --no-defaults --user="$user" --datadir="$dir/db" --socket="$dir/db.socket" \
  --pid-file="$dir/mariadb.pid" --bind-address=127.0.0.1 --port="$db_port" --skip-name-resolve \
  --innodb-buffer-pool-size=64M \
  --innodb-lock-wait-timeout=900 >>"$dir/mariadb.log" 2>&1 &
wait_for MariaDB mariadb --no-defaults -u root -S "$dir/db.socket" -e 'select 1'
mariadb --no-defaults -u root -S "$dir/db.socket" -e \
  "create user slurm@'127.0.0.1' identified by 'slurm'; grant all on slurm.* to slurm@'127.0.0.1'"

cat >"$dir/slurmdbd.conf" <<EOF
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
DbdHost=localhost
DbdPort=$dbd_port
SlurmUser=$user
PidFile=$dir/slurmdbd.pid
LogFile=$dir/slurmdbd.log
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort=$db_port
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm
EOF
chmod 600 "$dir/slurmdbd.conf"

cpus=$(nproc)
cat >"$dir/slurm.conf" <<EOF
ClusterName=windtunnel
SlurmctldHost=$(hostname)(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
SlurmctldPort=$ctld_port
SlurmdPort=$d_port
AuthType=auth/munge
AuthInfo=socket=$dir/munge.socket
CredType=cred/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool
SlurmctldPidFile=$dir/slurmctld.pid
SlurmdPidFile=$dir/slurmd.pid
SlurmctldLogFile=$dir/slurmctld.log
SlurmdLogFile=$dir/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SchedulerParameters=sched_interval=1,batch_sched_delay=1
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=localhost
AccountingStoragePort=$dbd_port
AccountingStoragePass=$dir/munge.socket
AccountingStorageEnforce=associations
JobAcctGatherType=jobacct_gather/none
NodeName=$(hostname) NodeAddr=127.0.0.1 CPUs=$cpus State=UNKNOWN
PartitionName=short Nodes=$(hostname) MaxTime=30 State=UP Default=NO
PartitionName=long Nodes=$(hostname) MaxTime=INFINITE State=UP Default=YES
EOF
export SLURM_CONF="$dir/slurm.conf"
slurmdbd
wait_for slurmdbd sacctmgr -n show cluster
{
  sacctmgr -i add cluster windtunnel
  sacctmgr -i add account windtunnel Cluster=windtunnel
  sacctmgr -i add user "$user" Account=windtunnel
} >"$dir/sacctmgr.log" 2>&1
slurmctld
wait_for slurmctld scontrol ping
slurmd
wait_for "the node" sh -c "sinfo -h -o %t | grep -q -E '^(idle|mix)'"
echo "export SLURM_CONF=$dir/slurm.conf"
