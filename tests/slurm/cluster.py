"""A Slurm cluster of its own: munged, slurmctld and some slurmd on this machine, all in one scratch folder. It is for a network namespace of its own, where no port is taken."""
import contextlib
import os
import secrets
import socket
import subprocess
import time

PORT = 6817
DEADLINE_S = 120  # only bounds how long a failure takes


class Cluster:
    """`with Cluster(folder, 6) as c:` starts it, and ends its daemons after that. Partition `few` has the last two nodes, `most` the others. c.env is for programs that talk to it."""

    def __init__(self, folder, nnodes):
        self.folder = folder
        self.nodes = [f"n{i + 1}" for i in range(nnodes)]
        self.daemons = {}
        self.env = dict(os.environ, SLURM_CONF=self.path("slurm.conf"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def __enter__(self):
        os.chmod(self.folder, 0o755)  # munged looks at all folders above its socket
        try:
            self._munge()
            self._configure()
            self._start("slurmctld", ["slurmctld", "-D", "-i", "-f", self.path("slurm.conf")])
            for node in self.nodes:
                self._start(node, ["slurmd", "-D", "-N", node, "-f", self.path("slurm.conf")])
            self.wait("all nodes are idle", lambda: self.states() == {"idle"})
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for p in reversed(self.daemons.values()):
            p.terminate()
        for p in reversed(self.daemons.values()):
            with contextlib.suppress(subprocess.TimeoutExpired):
                p.wait(10)
            p.kill()
            p.wait()

    def _start(self, name, command):
        with open(self.path(f"{name}.log"), "wb") as log:
            self.daemons[name] = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True)

    def _munge(self):
        with open(os.open(self.path("munge.key"), os.O_WRONLY | os.O_CREAT, 0o400), "wb") as f:
            f.write(secrets.token_bytes(128))
        files = [f"--{what}={self.path(name)}" for what, name in (("socket", "munge.socket"), ("key-file", "munge.key"), ("pid-file", "munge.pid"),
                                                                 ("seed-file", "munge.seed"), ("log-file", "munge.txt"))]
        self._start("munged", ["munged", "--foreground", *files])
        self.wait("munged listens", lambda: os.path.exists(self.path("munge.socket")))

    def _configure(self):
        """Node n1 and so on are all on this machine; what they have is made up."""
        host = socket.gethostname().split(".")[0]
        os.makedirs(self.path("state"))
        lines = [
            "ClusterName=pmend", f"SlurmctldHost={host}(127.0.0.1)", f"SlurmctldPort={PORT}",
            f"SlurmUser={os.getuid()}", f"SlurmdUser={os.getuid()}", f"AuthInfo=socket={self.path('munge.socket')}",
            f"StateSaveLocation={self.path('state')}", f"SlurmdSpoolDir={self.path('spool-%n')}", f"SlurmctldPidFile={self.path('slurmctld.pid')}",
            f"SlurmdPidFile={self.path('slurmd-%n.pid')}", "ProctrackType=proctrack/linuxproc", "TaskPlugin=task/none", "MpiDefault=none",
            "JobAcctGatherType=jobacct_gather/none", "SelectType=select/cons_tres", "SelectTypeParameters=CR_Core", "ReturnToService=2", "KillWait=1", "MinJobAge=86400",
            "SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,requeue_delay=1,sched_interval=1", "SlurmdParameters=config_overrides",
        ]
        lines += [f"NodeName={n} NodeHostname={host} NodeAddr=127.0.0.1 Port={PORT + 1 + i} CPUs=1 RealMemory=100" for i, n in enumerate(self.nodes)]
        lines += [f"PartitionName=most Nodes={','.join(self.nodes[:-2])} Default=YES MaxTime=60", f"PartitionName=few Nodes={','.join(self.nodes[-2:])} MaxTime=60"]
        with open(self.path("slurm.conf"), "w", encoding="utf-8") as f:
            f.write("\n".join(lines) + "\n")

    def run(self, *command):
        """Output of a command that talks to the cluster; None if it failed."""
        p = subprocess.run(command, env=self.env, capture_output=True, text=True, stdin=subprocess.DEVNULL)
        return p.stdout if p.returncode == 0 else None

    def last_lines(self, name):
        with open(self.path(f"{name}.log"), encoding="utf-8", errors="replace") as f:
            return " / ".join(f.read().splitlines()[-4:])

    def states(self):
        return set((self.run("sinfo", "--noheader", "--Node", "--format=%T") or "none").split())

    def wait(self, what, is_so):
        end = time.monotonic() + DEADLINE_S
        while not is_so():
            dead = [name for name, p in self.daemons.items() if p.poll() is not None]
            if dead or time.monotonic() > end:
                raise AssertionError(f"waited for: {what}" + "".join(f"; {name} has ended: {self.last_lines(name)}" for name in dead))
            time.sleep(0.05)
