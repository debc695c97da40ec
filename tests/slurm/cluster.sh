#!/bin/bash
# A Slurm of one node on this machine, for `make test-slurm`: start|stop|node-down|node-up|remove FOLDER.
# As root on Debian or Ubuntu; `start` installs what is missing, `remove` takes it away again, for an
# installed controller that does not answer costs seconds at every call of snakemake.
set -eu
action=$1
folder=$2
host=$(hostname -s)

node_up() {
    slurmd
    for _ in $(seq 100); do sinfo -h -o %t | grep -qE '^(idle|mix|alloc)$' && return; sleep 0.2; done
    echo "error: the node does not come up; see $folder/slurmd.log" >&2
    exit 1
}

stop_by() {
    [ ! -s "$folder/$1.pid" ] || kill "$(cat "$folder/$1.pid")" 2>/dev/null || true
}

case $action in
start)
    if ! command -v slurmctld >/dev/null; then
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends slurm-wlm munge
        touch "$folder/installed"
    fi
    mkdir -p "$folder/state" "$folder/spool" /run/munge
    chown munge: /run/munge
    [ -s /etc/munge/munge.key ] || { echo "error: no /etc/munge/munge.key; dpkg-reconfigure munge" >&2; exit 1; }
    if ! munge -n >/dev/null 2>&1; then
        runuser -u munge -- /usr/sbin/munged --pid-file=/run/munge/cxrqba.pid
    fi
    getent hosts "$host" >/dev/null || echo "127.0.0.1 $host" >>/etc/hosts
    # Neither cgroups nor systemd nor accounting: `sacct` exists and knows nothing, as on some sites.
    cat >/etc/slurm/slurm.conf <<CONF
ClusterName=test
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
MpiDefault=none
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=1,batch_sched_delay=0
ReturnToService=2
SlurmdTimeout=20
KillWait=2
MinJobAge=600
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
# As many as the profile asks for, whatever this machine has.
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=8 RealMemory=16000 State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE State=UP
CONF
    slurmctld -c
    for _ in $(seq 100); do scontrol ping 2>/dev/null | grep -q UP && break; sleep 0.2; done
    node_up
    ;;
node-down) kill -KILL "$(cat "$folder/slurmd.pid")" ;;
node-up) node_up ;;
stop)
    stop_by slurmd
    stop_by slurmctld
    ;;
remove)
    stop_by slurmd
    stop_by slurmctld
    rm -f /etc/slurm/slurm.conf
    if [ -s /run/munge/cxrqba.pid ]; then  # ours; its user cannot be removed while it runs
        munged=$(cat /run/munge/cxrqba.pid)
        kill "$munged" 2>/dev/null || true
        for _ in $(seq 50); do [ -d "/proc/$munged" ] || break; sleep 0.1; done
    fi
    if [ -e "$folder/installed" ]; then
        DEBIAN_FRONTEND=noninteractive apt-get purge -y -qq 'slurm*' munge
    fi
    ;;
esac
