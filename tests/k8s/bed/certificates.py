"""The bed's own authority, and what it signed: one pair of files a name, a kubeconfig a client."""
import os
import subprocess

SERVER = "https://10.99.0.1:6443"
NEW_KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "3650"]

KUBECONFIG = """apiVersion: v1
kind: Config
clusters:
- name: bed
  cluster: {{server: "{server}", certificate-authority: {pki}/ca.crt}}
users:
- name: {name}
  user: {{client-certificate: {pki}/{name}.crt, client-key: {pki}/{name}.key}}
contexts:
- name: bed
  context: {{cluster: bed, user: {name}}}
current-context: bed
"""


def openssl(*arguments):
    subprocess.run(["openssl", *arguments], check=True, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)


def make_authority(pki):
    os.makedirs(pki, mode=0o700, exist_ok=True)
    openssl("req", "-x509", *NEW_KEY, "-subj", "/CN=bed", "-keyout", f"{pki}/ca.key", "-out", f"{pki}/ca.crt")
    openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", f"{pki}/accounts.key")
    # Why apart: the API server finds no public key in a PKCS #8 file of an elliptic curve's private one.
    openssl("pkey", "-in", f"{pki}/accounts.key", "-pubout", "-out", f"{pki}/accounts.pub")


def sign(pki, name, subject, *names):
    """NAME.crt and NAME.key; with names it is a server's."""
    more = ["-addext", f"subjectAltName={','.join(names)}"] if names else []
    openssl("req", "-x509", *NEW_KEY, "-CA", f"{pki}/ca.crt", "-CAkey", f"{pki}/ca.key", "-subj", subject,
            "-addext", "basicConstraints=critical,CA:FALSE", *more,
            "-keyout", f"{pki}/{name}.key", "-out", f"{pki}/{name}.crt")


def make_client(pki, name, subject):
    """Signs and returns a kubeconfig's path."""
    sign(pki, name, subject)
    path = f"{pki}/{name}.kubeconfig"
    with open(path, "w", encoding="utf-8") as file:
        file.write(KUBECONFIG.format(server=SERVER, pki=pki, name=name))
    return path
