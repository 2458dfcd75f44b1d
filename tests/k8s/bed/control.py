"""Inside a bed: starts etcd, the API server, the controller manager, and nodes that kwok plays.

control.py DIR OPTIONS: OPTIONS is JSON, as up makes it. What is started stays.
"""
import http.client
import json
import os
import subprocess
import sys
import time

import certificates
import keeper
from api import Api, Refused

READY_S = 60
GPUS = 8


class Bed:
    def __init__(self, directory, programs):
        self.dir, self.programs = directory, programs
        self.pki = f"{directory}/pki"
        self.started = {}

    def start(self, name, *arguments):
        """As `name`, from now on; its words go to DIR/log."""
        with open(f"{self.dir}/log/{name}.log", "ab") as log:
            self.started[name] = subprocess.Popen([f"{self.programs}/{name}", *arguments], cwd="/",
                                                  stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                                  start_new_session=True)

    def wait(self, what, ready, patience_s=READY_S):
        """Until ready() is true. One of ours that ended meanwhile is an error at once."""
        deadline = time.monotonic() + patience_s
        said = ""
        while True:
            try:
                if ready():
                    return
            except (Refused, OSError, http.client.HTTPException) as error:
                said = f": {error}"
            ended = [name for name, process in self.started.items() if process.poll() is not None]
            if ended:
                raise keeper.BedError(f"{ended[0]} ended, its last words: {self.last_words(ended[0])}")
            if time.monotonic() > deadline:
                raise keeper.BedError(f"{what}: not within {patience_s} s{said}; see {self.dir}/log")
            time.sleep(0.03)

    def last_words(self, name):
        with open(f"{self.dir}/log/{name}.log", encoding="utf-8", errors="replace") as log:
            return "".join(log.readlines()[-8:])


def start_etcd(bed):
    # Why without fsync: what a killed etcd has written the kernel still has; only a power cut loses it.
    bed.start("etcd", "--data-dir", f"{bed.dir}/etcd", "--unsafe-no-fsync", "--log-level", "warn",
              "--listen-client-urls", "http://127.0.0.1:2379", "--advertise-client-urls", "http://127.0.0.1:2379",
              "--listen-peer-urls", "http://127.0.0.1:2380", "--initial-cluster", "default=http://127.0.0.1:2380",
              "--initial-advertise-peer-urls", "http://127.0.0.1:2380")


def start_api_server(bed):
    pki = bed.pki
    bed.start("kube-apiserver", "--etcd-servers", "http://127.0.0.1:2379", "--secure-port", "6443",
              "--advertise-address", keeper.ADDRESS,  # there is no default route to find one by
              "--service-cluster-ip-range", "10.96.0.0/16", "--endpoint-reconciler-type", "none",
              "--authorization-mode", "Node,RBAC", "--client-ca-file", f"{pki}/ca.crt",
              "--tls-cert-file", f"{pki}/server.crt", "--tls-private-key-file", f"{pki}/server.key",
              "--service-account-key-file", f"{pki}/accounts.pub",
              "--service-account-signing-key-file", f"{pki}/accounts.key",
              "--service-account-issuer", "https://kubernetes.default.svc",
              "--kubelet-client-certificate", f"{pki}/admin.crt", "--kubelet-client-key", f"{pki}/admin.key",
              # else it looks a node's name up in DNS, and logs and exec fail
              "--kubelet-preferred-address-types", "InternalIP,Hostname",
              "--allow-privileged")


def start_controller_manager(bed):
    # Why an administrator: with accounts of their own its controllers first fetch some thirty tokens.
    bed.start("kube-controller-manager", "--kubeconfig", f"{bed.pki}/admin.kubeconfig", "--leader-elect=false",
              "--service-account-private-key-file", f"{bed.pki}/accounts.key", "--root-ca-file", f"{bed.pki}/ca.crt",
              # 20 a second is its default: it would take half a minute to untaint 500 nodes
              "--kube-api-qps", "1000", "--kube-api-burst", "2000")


def start_kwok(bed):
    bed.start("kwok", "--kubeconfig", f"{bed.pki}/admin.kubeconfig", "--node-ip", keeper.ADDRESS,
              "--manage-all-nodes=false", "--manage-nodes-with-annotation-selector", "kwok.x-k8s.io/node=fake")


def fake_node(name, gpu_type):
    """A node that kwok keeps alive: its pods run and end, nothing happens in them."""
    has = {"cpu": "64", "memory": "512Gi", "ephemeral-storage": "1Ti", "pods": "110", "nvidia.com/gpu": str(GPUS)}
    return {"apiVersion": "v1", "kind": "Node",
            "metadata": {"name": name, "annotations": {"kwok.x-k8s.io/node": "fake"},
                         "labels": {"kubernetes.io/hostname": name, "kubernetes.io/os": "linux",
                                    "kubernetes.io/arch": "amd64", "nvidia.com/gpu.product": gpu_type}},
            "status": {"capacity": has, "allocatable": has}}


def make_fake_nodes(api, count, gpu_types):
    """n1, n2, ...: the types are shared out over them in blocks."""
    for i in range(count):
        try:
            api.post("/api/v1/nodes", fake_node(f"n{i + 1}", gpu_types[i * len(gpu_types) // count]))
        except Refused as error:
            if error.code != 409:  # it is there from before
                raise


def usable(node):
    ready = any(c["type"] == "Ready" and c["status"] == "True" for c in node["status"].get("conditions", []))
    return ready and not node["spec"].get("taints")


def up(bed, options):
    os.makedirs(f"{bed.dir}/log", exist_ok=True)
    start_etcd(bed)
    certificates.make_authority(bed.pki)
    certificates.sign(bed.pki, "server", "/CN=kube-apiserver", f"IP:{keeper.ADDRESS}", "IP:127.0.0.1", "IP:10.96.0.1",
                      "DNS:localhost", "DNS:kubernetes", "DNS:kubernetes.default", "DNS:kubernetes.default.svc")
    certificates.make_client(bed.pki, "admin", "/O=system:masters/CN=admin")
    start_api_server(bed)
    api = Api(bed.pki)
    bed.wait("API server ready", lambda: api.get("/readyz"))
    start_controller_manager(bed)
    start_kwok(bed)
    make_fake_nodes(api, options["nodes"], options["gpu_types"])
    # Pods are refused before their namespace has its account.
    bed.wait("service account", lambda: api.get("/api/v1/namespaces/default/serviceaccounts/default"))
    # Why counted: a cache that is still filling shows fewer nodes, and none at all are all usable.
    bed.wait("fake nodes ready", lambda: sum(map(usable, api.get("/api/v1/nodes?resourceVersion=0")["items"])) >= options["nodes"])


def main():
    directory, options = sys.argv[1], json.loads(sys.argv[2])
    try:
        up(Bed(directory, options["programs"]), options)
    except (keeper.BedError, Refused, OSError, subprocess.CalledProcessError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
